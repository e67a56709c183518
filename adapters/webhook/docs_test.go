package webhook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/receivertest"
)

// The verification examples in the guide are the programs that the tests run.
func TestGuideShowsTheProgramsThatRun(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "webhooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for language, source := range receivertest.Languages {
		program, err := os.ReadFile(filepath.Join(receivertest.Dir(root, language), source))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(guide), "\n"+string(program)+"```\n") {
			t.Errorf("docs/webhooks.md does not show %s as it is", source)
		}
	}
}

// The guide names every header of a delivery: readers could not rely on any other.
func TestGuideNamesEveryHeader(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "webhooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWebhook(t, Options{})
	job := exampleJob("http://hooks.example.com/", 1)
	job.Trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	target, err := w.guard.parseTarget(job.Target)
	if err != nil {
		t.Fatal(err)
	}
	req, err := w.newRequest(t.Context(), target, job)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range req.Header {
		if len(values) > 0 && !strings.Contains(string(guide), "`"+strings.ToLower(name)+"`") {
			t.Errorf("docs/webhooks.md does not name %s", name)
		}
	}
}
