package containers

import "testing"

// The messages are those of an engine that has one layer of three already.
func TestLayers(t *testing.T) {
	const mb = 1 << 20
	l := layers{}
	for _, step := range []struct {
		id, status string
		got, all   int64
		want       string
	}{
		{"4.14.0", "Pulling from localstack/localstack", 0, 0, "0 of 0 MB, 0 of 0 layers"},
		{"a", "Already exists", 0, 0, "0 of 0 MB, 1 of 1 layers"},
		{"b", "Pulling fs layer", 0, 0, "0 of 0 MB, 1 of 2 layers"},
		{"c", "Pulling fs layer", 0, 0, "0 of 0 MB, 1 of 3 layers"},
		{"b", "Downloading", 10 * mb, 60 * mb, "10 of 60 MB, 1 of 3 layers"},
		{"c", "Downloading", 5 * mb, 40 * mb, "15 of 100 MB, 1 of 3 layers"},
		{"b", "Download complete", 0, 0, "65 of 100 MB, 1 of 3 layers"},
		{"b", "Extracting", 1 * mb, 60 * mb, "65 of 100 MB, 1 of 3 layers"},
		{"b", "Pull complete", 0, 0, "65 of 100 MB, 2 of 3 layers"},
		{"c", "Downloading", 39 * mb, 40 * mb, "99 of 100 MB, 2 of 3 layers"},
		{"", "Digest: sha256:0805", 0, 0, "99 of 100 MB, 2 of 3 layers"},
		{"c", "Pull complete", 0, 0, "100 of 100 MB, 3 of 3 layers"},
	} {
		l.note(step.id, step.status, step.got, step.all)
		if got := l.String(); got != step.want {
			t.Errorf("after %s %s: %s, want %s", step.id, step.status, got, step.want)
		}
	}
}
