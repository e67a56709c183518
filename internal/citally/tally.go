package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is one line of `go test -json`; see `go doc test2json`.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

// key names a test, or with Test empty its package.
type key struct{ Package, Test string }

// tally counts the results of a run and prints the parts worth reading as they come.
type tally struct {
	to                      io.Writer
	passed, failed, skipped int
	output                  map[key][]string // of what has not ended yet, and of each package's failing tests
	failedTests             map[string]int   // by package
	reasons                 []string         // of skipped tests, in order
}

func newTally(to io.Writer) *tally {
	return &tally{to: to, output: map[key][]string{}, failedTests: map[string]int{}}
}

// read takes in all events. A line that is no event is printed as it is: the
// go command writes some errors that way.
func (t *tally) read(from io.Reader) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			t.line(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
	}
}

func (t *tally) line(line string) {
	var e event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		fmt.Fprint(t.to, line)
		return
	}
	id := key{e.Package, e.Test}
	switch e.Action {
	case "output":
		t.output[id] = append(t.output[id], e.Output)
	case "build-output":
		fmt.Fprint(t.to, e.Output)
	case "pass", "fail", "skip":
		t.end(id, e)
	}
}

// end counts one result. A package counts only when it failed without a failing
// test in it: it did not build, crashed or ran out of time.
func (t *tally) end(id key, e event) {
	output := t.output[id]
	delete(t.output, id)
	if id.Test == "" {
		t.endPackage(id, e, output)
		return
	}
	switch e.Action {
	case "pass":
		t.passed++
	case "skip":
		t.skipped++
		t.reasons = append(t.reasons, reason(id, output))
	case "fail":
		t.failed++
		t.failedTests[id.Package]++
		fmt.Fprint(t.to, strings.Join(output, ""))
	}
}

func (t *tally) endPackage(id key, e event, output []string) {
	switch e.Action {
	case "pass":
		fmt.Fprintf(t.to, "ok    %s  %.1fs\n", id.Package, e.Elapsed)
	case "fail":
		if t.failedTests[id.Package] == 0 {
			t.failed++
			t.printUnended(id.Package)
			fmt.Fprint(t.to, strings.Join(output, ""))
		}
		fmt.Fprintf(t.to, "FAIL  %s  %.1fs\n", id.Package, e.Elapsed)
	}
}

// printUnended prints what the tests said that were running when their package ended.
func (t *tally) printUnended(name string) {
	var unended []key
	for id := range t.output {
		if id.Package == name {
			unended = append(unended, id)
		}
	}
	slices.SortFunc(unended, func(a, b key) int { return strings.Compare(a.Test, b.Test) })
	for _, id := range unended {
		fmt.Fprint(t.to, strings.Join(t.output[id], ""))
		delete(t.output, id)
	}
}

// close prints the skips and the closing line, and reports whether the run is good.
func (t *tally) close() bool {
	for _, reason := range t.reasons {
		fmt.Fprintln(t.to, reason)
	}
	fmt.Fprintf(t.to, "%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped)
	return t.failed == 0 && t.passed > 0
}

// reason is a skipped test's name and why it was, on one line.
func reason(id key, output []string) string {
	var why []string
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "--- ") {
			why = append(why, line)
		}
	}
	return fmt.Sprintf("skip  %s %s: %s", id.Package, id.Test, strings.Join(why, " "))
}
