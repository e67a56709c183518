package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/nodetest"
)

const schedulesGuide = "../../docs/schedules.md"

// scheduleMasks take out what differs from run to run beside what masks do.
var scheduleMasks = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0[12]:00|\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ|"id":"\d+"|"(run_at|scheduled_for|created_at)":"[^"]*"`)

// TestSchedulesTranscript runs every command of the console blocks of docs/schedules.md, in order, and compares what it
// prints, as TestTranscript does.
func TestSchedulesTranscript(t *testing.T) {
	path, err := filepath.Abs(schedulesGuide)
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, nodetest.Start(t, "api"))
	t.Chdir(t.TempDir())
	ran := 0
	fresh := regexp.MustCompile("(?s)```console\n(.*?)```").ReplaceAllStringFunc(string(document), func(block string) string {
		var out strings.Builder
		out.WriteString("```console\n")
		for _, command := range regexp.MustCompile(`(?m)^\$ (.*)$`).FindAllStringSubmatch(block, -1) {
			ran++
			out.WriteString("$ " + command[1] + "\n" + r.shell(command[1]))
		}
		return out.String() + "```"
	})
	if *update {
		if err := os.WriteFile(path, []byte(fresh), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	hide := func(text string) []string {
		return strings.Split(masked(scheduleMasks.ReplaceAllString(text, "TIME")), "\n")
	}
	want, got := hide(string(document)), hide(fresh)
	for i := range max(len(want), len(got)) {
		if at(want, i) != at(got, i) {
			t.Fatalf("docs/schedules.md differs at line %d (go test ./cmd/belfry -run SchedulesTranscript -update writes it anew)\nwant %q\ngot  %q", i+1, at(want, i), at(got, i))
		}
	}
	if ran < 15 {
		t.Errorf("%d commands", ran)
	}
}
