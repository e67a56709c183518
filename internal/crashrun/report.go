package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// report prints the verdict; a broken invariant is an error.
func (st *stage) report(v *verdict, done map[string]int, rows int, took time.Duration) error {
	fmt.Printf("%d jobs accepted, %d rows (requests without an answer: %d), %d handler entries, %d dispatches, %d cancels, in %s\n",
		len(st.load.jobs), rows, st.load.lost.Load(), v.counts["enter"], v.counts["dispatch"], v.counts["cancels"], took.Round(time.Second))
	total := 0
	var kinds []string
	for _, k := range slices.Sorted(maps.Keys(done)) {
		total += done[k]
		kinds = append(kinds, fmt.Sprintf("%s %d", k, done[k]))
	}
	fmt.Printf("%d faults: %s; died at named points: %v\n", total, strings.Join(kinds, ", "), v.points)
	if t := st.trouble; t.strange != nil {
		fmt.Printf("trouble: the poison job ended %d processes, %d rows were set apart, %d submits under the held key were not answered with a job\n",
			v.counts["poisoned"], t.rows, t.refusals.Load())
	}
	fmt.Printf("%d jobs failed for good, %d of them shorter than a second: each of five runs in a row met a kill\n", v.counts["failed"], v.counts["short failed"])
	if v.worst > 0 {
		fmt.Printf("worst wait after a tick died between commit and publish, with database and queue up: %s\n", v.worst.Round(time.Millisecond))
	}
	if st.queue != nil {
		fmt.Printf("%d messages are left in the queues, %d became dead letters\n", v.left, v.dead)
	}
	broken := 0
	for _, inv := range []string{"1", "2", "3", "4", "5", "6", "9", "10", "11", "named", "neighbours"} {
		fs := v.faults[inv]
		broken += len(fs)
		if len(fs) == 0 {
			fmt.Printf("%s holds\n", called(inv))
			continue
		}
		fmt.Printf("%s BROKEN %d times:\n  %s\n", called(inv), len(fs), strings.Join(fs[:min(len(fs), 10)], "\n  "))
	}
	if v.counts["run_at compared"] < rows/4 {
		return fmt.Errorf("run_at could be compared for %d of %d jobs only", v.counts["run_at compared"], rows)
	}
	if broken > 0 {
		return fmt.Errorf("%d faults", broken)
	}
	if v.dead > 0 {
		return fmt.Errorf("%d messages became dead letters: they are for messages that nobody can read", v.dead)
	}
	for _, name := range st.points {
		if v.points[name] < 3 {
			return fmt.Errorf("named point %s was hit %d times only", name, v.points[name])
		}
	}
	return nil
}

// called is a line of the verdict.
func called(name string) string {
	switch name {
	case "named":
		return "what is at fault is set apart and named: it"
	case "neighbours":
		return "its neighbours go on: it"
	}
	return "invariant " + name
}
