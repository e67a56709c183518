package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

var update = flag.Bool("update", false, "write what the commands print into docs/cli.md")

const transcriptFile = "../../docs/cli.md"

// masks take out what differs from run to run. Where they match, the document's own text stays.
var masks = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`http://127\.0\.0\.1:\d{4,}`), "http://127.0.0.1:8080"},
	{regexp.MustCompile(`\b[0-9.]+(ns|µs|ms|s)\b`), "DURATION"},
	{regexp.MustCompile(`\bin \d+ days`), "in DAYS"},
	{regexp.MustCompile(`"worker_id":"[^"]*"`), `"worker_id":"WORKER"`},
	{regexp.MustCompile(`(?m)^worker .*$`), "WORKER"},
	{regexp.MustCompile(`\(go[0-9.]+\)`), "(GO)"},
	{regexp.MustCompile(`belfry (dev|v\S+)`), "belfry VERSION"},
	{regexp.MustCompile(`(?m)(^\d+ +\d{4}_\w+ +missing\n)+`), "MIGRATIONS missing\n"}, // each migration adds one
	{regexp.MustCompile(`(?m)(^applied \d{4}_\w+\n)+`), "applied MIGRATIONS\n"},
	{regexp.MustCompile(`version \d+, as this program`), "version N, as this program"},
	{regexp.MustCompile(`PostgreSQL \d+[^\n]*`), "PostgreSQL VERSION"},
	{regexp.MustCompile(`ready for \d+ days?`), "ready for N days"},
	{regexp.MustCompile(`(kept in) .*profiles.json`), "$1 PROFILES"},
	{regexp.MustCompile(` +`), " "}, // columns move with what is in them
}

func masked(text string) string {
	for _, m := range masks {
		text = m.what.ReplaceAllString(text, m.with)
	}
	return text
}

// TestTranscript runs every command of the console blocks of docs/cli.md, in order, against one server on PostgreSQL
// and compares what it prints. A line "# exit N" after a command's output is its exit code, where that is not 0.
func TestTranscript(t *testing.T) {
	path, err := filepath.Abs(transcriptFile)
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	database := testenv.Postgres(t)
	r := newRig(t, "")
	r.env["BELFRY_DATABASE_URL"] = database
	t.Chdir(t.TempDir())
	if err := os.WriteFile("prod.token", []byte("belfry_0123456789\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```console\n(.*?)```")
	ran := 0
	fresh := blocks.ReplaceAllStringFunc(string(document), func(block string) string {
		var out strings.Builder
		out.WriteString("```console\n")
		for _, command := range regexp.MustCompile(`(?m)^\$ (.*)$`).FindAllStringSubmatch(block, -1) {
			ran++
			out.WriteString("$ " + command[1] + "\n" + r.shell(command[1]))
			if r.env["BELFRY_URL"] == "" && strings.HasPrefix(command[1], "belfry migrate up") {
				store, err := postgres.Open(t.Context(), database, postgres.Options{})
				if err != nil {
					t.Fatal(err)
				}
				r.env["BELFRY_URL"] = nodetest.StartOn(t, "all", store)
				waitUntil(t, database, "SELECT count(*) = 64 FROM belfry.scheduler_leases WHERE holder <> ''")
			}
		}
		return out.String() + "```"
	})
	if *update {
		fresh = regexp.MustCompile(`http://127\.0\.0\.1:\d{4,}`).ReplaceAllString(fresh, "http://127.0.0.1:8080")
		fresh = regexp.MustCompile(`kept in .*profiles.json`).ReplaceAllString(fresh, "kept in /home/you/.config/belfry/profiles.json")
		if err := os.WriteFile(path, []byte(keepLines(string(document), fresh)), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, got := strings.Split(masked(string(document)), "\n"), strings.Split(masked(fresh), "\n")
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("docs/cli.md differs at line %d (go test ./cmd/belfry -run Transcript -update writes it anew)\nwant %q\ngot  %q\n\n%s", i+1, at(want, i), at(got, i), fresh)
		}
	}
	versions := regexp.MustCompile(`version \d+, as this program wants it|[a-z ]*\b\d+ migrations?\b[a-z ]*`)
	if kept, now := versions.FindAllString(string(document), -1), versions.FindAllString(fresh, -1); len(kept) == 0 || !slices.Equal(kept, now) {
		t.Errorf("docs/cli.md says of the schema %q, which is %q now", kept, now)
	}
	if ran < 25 {
		t.Errorf("%d commands", ran)
	}
}

// keepLines is fresh with the lines of old that say the same at another time, so that a change is only where there is one.
func keepLines(old, fresh string) string {
	kept := map[string][]string{}
	for line := range strings.SplitSeq(old, "\n") {
		kept[masked(line)] = append(kept[masked(line)], line)
	}
	lines := strings.Split(fresh, "\n")
	for i, line := range lines {
		if same := kept[masked(line)]; len(same) > 0 {
			lines[i], kept[masked(line)] = same[0], same[1:]
		}
	}
	return strings.Join(lines, "\n")
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "the end"
}

// shell runs one line of the transcript: a command of belfry, or a printf that makes a file.
func (r *rig) shell(line string) string {
	r.t.Helper()
	if rest, ok := strings.CutPrefix(line, "printf "); ok {
		text, file, _ := strings.Cut(rest, " > ")
		text = strings.ReplaceAll(strings.Trim(text, "'"), `\n`, "\n")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
		return ""
	}
	words := shellWords(line)
	if words[0] != "belfry" {
		r.t.Fatalf("the transcript runs %q", line)
	}
	code := r.run(words[1:]...)
	out := r.out + r.errs
	if code != console.ExitOK {
		out += "# exit " + string(rune('0'+code)) + "\n"
	}
	return out
}

// shellWords splits at spaces, but not inside single quotes.
func shellWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words[len(words)-1] += part
			continue
		}
		for k, word := range strings.Split(part, " ") {
			if k > 0 || i == 0 {
				words = append(words, "")
			}
			words[len(words)-1] += word
		}
	}
	var full []string
	for _, w := range words {
		if w != "" {
			full = append(full, w)
		}
	}
	return full
}
