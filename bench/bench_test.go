package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/bench/scenario"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// TestMain lets the test binary be its own measuring process, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == measureCommand {
		exit(measureMain())
	}
	os.Exit(m.Run())
}

// BenchmarkScenarios runs every case of every scenario at its tiny size.
func BenchmarkScenarios(b *testing.B) {
	server := testenv.PostgresServer(b, serverOptions)
	for _, s := range scenario.All() {
		for _, c := range s.Cases {
			b.Run(s.Name+"/"+c.Label, func(b *testing.B) {
				var figures scenario.Figures
				for b.Loop() {
					var err error
					if figures, err = measureApart(b.Context(), server.URL(), s.Name, c.Label, s.Tiny); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(0, "ns/op") // of starting a process, mostly
				for metric, value := range figures {
					b.ReportMetric(value, strings.ReplaceAll(string(metric), " ", "-"))
				}
			})
		}
	}
}

// Every line must name cases and metrics that exist, or its cells stay empty for good.
func TestLinesNameTheirCases(t *testing.T) {
	for _, s := range scenario.All() {
		for _, line := range s.Lines {
			for _, label := range []string{line.Ours, line.Against} {
				if _, ok := s.Case(label); !ok {
					t.Errorf("%s: line %q names the unknown case %q", s.Name, line.Text, label)
				}
			}
			if !slices.Contains(scenario.Metrics, line.Metric) {
				t.Errorf("%s: line %q has the unknown metric %q", s.Name, line.Text, line.Metric)
			}
		}
	}
}

func TestReportPutsFiguresAndNotesTogether(t *testing.T) {
	dir := t.TempDir()
	notes, out := dir+"/NOTES.md", dir+"/RESULTS.md"
	if err := os.WriteFile(notes, []byte("## Where the time goes now\n\nIn commits.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := scenario.Scenario{
		Name: "s", Title: "A scenario",
		Cases: []scenario.Case{{Label: "a"}, {Label: "b"}},
		Lines: []scenario.Line{
			{Text: "speed", Metric: scenario.JobsPerSecond, Ours: "a", Against: "b"},
			{Text: "lag", Metric: scenario.P99, Ours: "a", Against: "b"},
			{Text: "idle", Metric: scenario.Transactions, Ours: "a", Against: "b"},
		},
	}
	r := &report{head: "- Machine: one\n", runs: 3}
	r.add(s, map[string][]scenario.Figures{
		"a": {{scenario.JobsPerSecond: 1, scenario.P99: 40, scenario.Transactions: 1.5}, {scenario.JobsPerSecond: 60_000, scenario.P99: 40, scenario.Transactions: 1.5}, {scenario.JobsPerSecond: 90_000, scenario.P99: 40, scenario.Transactions: 1.5}},
		"b": {{scenario.JobsPerSecond: 20_000, scenario.P99: 100}},
	})
	if err := r.write(out, notes); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- Machine: one\n",
		"| speed | jobs/s | 60,000 | 20,000 | 3.00 × |\n",
		"| lag | p99 ms | 40.0 | 100 | 0.40 × |\n",
		"| idle | transactions/s | 1.50 |  |  |\n",
		"## Where the time goes now\n\nIn commits.\n",
		"| a | 60,000 | 40.0 | 1.50 |\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}

func TestChooseKeepsNamedScenariosAndSystems(t *testing.T) {
	chosen, err := choose("drain,river")
	if err != nil || len(chosen) != 1 || len(chosen[0].Cases) != 1 || chosen[0].Cases[0].System != "river" {
		t.Errorf("choose(drain,river) = %v, %v", chosen, err)
	}
	if _, err := choose("drian"); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", "drian")) {
		t.Errorf("choose of an unknown name: %v, want an error that names it", err)
	}
}
