package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/bench/measure"
	"github.com/belfry-dev/belfry/bench/scenario"
)

// report collects results and prints them.
type report struct {
	head     string // machine, versions, date
	runs     int
	quick    bool
	sections []section
}

// section is one scenario with the medians of its cases.
type section struct {
	scenario.Scenario
	medians map[string]scenario.Figures
}

func newReport(ctx context.Context, o options) *report {
	return &report{
		head: fmt.Sprintf("- Machine: %s\n- Server: %s\n- Versions: %s\n- Taken: %s; medians of %d runs, the cases in alternation\n",
			describeMachine(), describeServer(ctx, o.dsn), describeVersions(), time.Now().UTC().Format("2006-01-02 15:04 UTC"), o.runs),
		runs:  o.runs,
		quick: o.quick,
	}
}

// add takes the figures of each case, one per run.
func (r *report) add(s scenario.Scenario, results map[string][]scenario.Figures) {
	medians := map[string]scenario.Figures{}
	for label, runs := range results {
		medians[label] = scenario.Figures{}
		for _, metric := range scenario.Metrics {
			var values []float64
			for _, figures := range runs {
				if value, ok := figures[metric]; ok {
					values = append(values, value)
				}
			}
			if len(values) > 0 {
				medians[label][metric] = measure.Median(values)
			}
		}
	}
	r.sections = append(r.sections, section{s, medians})
}

// printLast writes the lines of the scenario added last.
func (r *report) printLast(w io.Writer) {
	last := r.sections[len(r.sections)-1]
	fmt.Fprintf(w, "\n%s\n%s\n", last.Title, lineHead)
	for _, line := range last.Lines {
		fmt.Fprint(w, last.line(line))
	}
}

const lineHead = "| | unit | Belfry | against | ratio |\n| --- | --- | ---: | ---: | ---: |"

// line is one line of the result table; a case that did not run leaves its cell empty.
func (s section) line(line scenario.Line) string {
	ours, haveOurs := s.medians[line.Ours][line.Metric]
	against, haveAgainst := s.medians[line.Against][line.Metric]
	cells := []string{line.Text, string(line.Metric), "", "", ""}
	if haveOurs {
		cells[2] = scenario.Number(ours)
	}
	if haveAgainst {
		cells[3] = scenario.Number(against)
	}
	if haveOurs && haveAgainst && against > 0 {
		cells[4] = fmt.Sprintf("%.2f ×", ours/against)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// write writes everything, with the text of the notes file, if there is one, below the table.
func (r *report) write(path, notesPath string) error {
	notes, err := os.ReadFile(notesPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("notes: %w", err)
	}
	var b strings.Builder
	b.WriteString("# Belfry beside River\n\nWritten by `go run . -out RESULTS.md`; the text under the table is kept in `NOTES.md`.\n")
	if r.quick {
		b.WriteString("\n**Small sizes (`-quick`): these are not figures to quote.**\n")
	}
	fmt.Fprintf(&b, "\n%s\n%s\n", r.head, setup)
	fmt.Fprintln(&b, lineHead)
	for _, s := range r.sections {
		for _, line := range s.Lines {
			b.WriteString(s.line(line))
		}
	}
	if text := strings.TrimSpace(string(notes)); text != "" {
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	b.WriteString("\n## All figures\n")
	for _, s := range r.sections {
		fmt.Fprintf(&b, "\n%s (`%s`):\n\n", s.Title, s.Name)
		s.writeFigures(&b)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

const setup = "No-op handlers, a payload of one number, jobs kept after they finish. River as tuned: MaxWorkers 2000, FetchCooldown 2 ms,\n" +
	"FetchPollInterval 20 ms, a pool of 30. Each measurement has a database and a process of its own; \"against\" is River\n" +
	"where the line does not say otherwise.\n"

// writeFigures writes a table of all medians: a row per case, a column per metric that any case has.
func (s section) writeFigures(w io.Writer) {
	var metrics []scenario.Metric
	for _, metric := range scenario.Metrics {
		for _, figures := range s.medians {
			if _, ok := figures[metric]; ok {
				metrics = append(metrics, metric)
				break
			}
		}
	}
	head, rule := "| |", "| --- |"
	for _, metric := range metrics {
		head, rule = head+" "+string(metric)+" |", rule+" ---: |"
	}
	fmt.Fprintf(w, "%s\n%s\n", head, rule)
	for _, c := range s.Cases {
		figures, ok := s.medians[c.Label]
		if !ok {
			continue
		}
		row := "| " + c.Label + " |"
		for _, metric := range metrics {
			cell := ""
			if value, ok := figures[metric]; ok {
				cell = scenario.Number(value)
			}
			row += " " + cell + " |"
		}
		fmt.Fprintln(w, row)
	}
}
