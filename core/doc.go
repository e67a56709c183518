// Package core is Belfry itself: what a job is, which states it may pass through, and the three acts
// that move it along. It knows no database, no queue and no cloud; those are adapters behind the ports.
//
// Where to look:
//
//	job.go, status.go, priority.go   the things
//	transition.go                    the table of states and events, as code
//	ports.go                         what core asks of a store and of a queue, on one page
//	submit.go                        Submitter: checks jobs and writes them, many callers in one commit
//	tick.go                          Ticker: one pass of the scheduler
//	queue_groups.go, queue_grouped.go   which types have queues of their own, and the Queue that is made of them
//	work.go                          Worker: claims or receives, runs handlers, finishes in batches
//	share.go, backoff.go, decide.go, window.go   policy: pure functions, no clock, no chance of their own
//
// The contracts of the ports are tests: packages storetest and queuetest.
package core
