// Package schedule checks the rules of schedules and plans the steps that ticks and users take. Package recurrence
// interprets the rules.
//
// Where to look:
//
//	check.go       the rules that a definition must keep
//	plan.go        one step of a schedule; tick.go the steps of a tick
//	change.go      the steps of pausing, resuming and redefining
//	acts.go        Acts: what users ask for; compare.go what a definition would change, cancel.go how runs are cancelled
//	watch.go       alerts about missing successes; unreadable.go about rules that cannot be read
//	zone.go        what happens when the rules of a time zone change
//	counts.go      counts for metrics
package schedule
