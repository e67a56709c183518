// Package tick is the scheduler. One pass renews bucket leases, ends lost attempts, expires jobs, advances schedules and, in
// queue mode, publishes due jobs.
//
// Where to look:
//
//	duties.go     what a pass does: a table
//	tick.go       Options, Ticker, and one pass
//	run.go        repeated passes; idle.go decides when a host may stop them
//	dispatch.go   how many jobs a pass may mark as queued, within the window of window.go
//	publish.go    sends messages to the queues
//	schedules.go  due schedules; advance.go writes their steps
//	reap.go       lost attempts
//	maintain.go   upkeep; failures.go and apart.go: alerts, and rows that raise errors
package tick
