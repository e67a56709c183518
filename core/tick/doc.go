// Package tick is the scheduler: one pass renews bucket leases, ends attempts that were lost, expires jobs, advances schedules
// and, in queue mode, hands due jobs to their queues.
//
// Where to look:
//
//	duties.go     what a pass does: a table
//	tick.go       Options, Ticker, and one pass
//	run.go        passes one after another; idle.go when a host may let it end
//	dispatch.go   what a pass may mark queued, within the bounds of window.go
//	publish.go    messages on their way to the queues
//	schedules.go  schedules that are due; advance.go writes their steps
//	reap.go       attempts that were lost
//	maintain.go   upkeep; failures.go and apart.go alerts and rows that raise errors
package tick
