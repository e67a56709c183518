// Package schedule decides what becomes of schedules: it checks and reads their rules, and plans the steps that ticks and users take.
// What a rule means is package recurrence's.
//
// Where to look:
//
//	check.go       the rules that a definition must keep
//	plan.go        one step of a schedule; tick.go the steps of a tick
//	change.go      the steps of pausing, resuming and redefining
//	acts.go        Acts: what users ask for; compare.go what a definition would change, cancel.go how runs are cancelled
//	watch.go       alerts about successes that are missing; unreadable.go about rules that cannot be read
//	zone.go        what happens when the rules of a time zone change
//	counts.go      counts for metrics
package schedule
