package api_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api"
)

// Every metric stands in the guide, in the words of its help.
func TestMetricsAreDocumented(t *testing.T) {
	guide, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(o *api.Options) { o.Stats, o.Counts = &someStats{stats: knownStats()}, &schedule.Counts{} })
	told := 0
	for line := range strings.Lines(b.do("GET", "/metrics", "").want(t, http.StatusOK).body) {
		help, is := strings.CutPrefix(line, "# HELP ")
		if !is {
			continue
		}
		told++
		name, text, _ := strings.Cut(strings.TrimSpace(help), " ")
		if row := "| " + text + " |\n"; !strings.Contains(string(guide), row) || !strings.Contains(string(guide), "| `"+name+"` |") {
			t.Errorf("docs/metrics.md lacks | `%s` | … %s", name, row)
		}
	}
	if told < 15 {
		t.Errorf("%d metrics", told)
	}
}
