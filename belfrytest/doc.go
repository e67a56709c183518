// Package belfrytest runs a program's handlers on the real engine in the test's process. Its clock only moves when the test
// advances it. Hours of back-off, snoozes and timeouts pass in milliseconds, at the same instants in every run, without a
// sleep.
//
//	e := belfrytest.New(t, set)
//	id := e.Submit("email.send", Email{To: "ada@example.com"})
//	e.Drain()                   // runs what is due
//	e.Advance(30 * time.Second) // the retry, if the first attempt failed
//	e.WaitFor(id, core.Done)
//
// Store, scheduler, worker and submitter are those of production. The store is adapters/sqlite on a temporary file, without
// waiting for the disk. Each Engine is independent, so tests may run in parallel. Back-offs have no jitter, so waits are
// exact. Jobs run one after the other, by priority and then by due time, unless Options.Slots says otherwise.
//
// Time passes only in Advance and Skip. Nothing runs outside Drain, Advance and WaitFor, except handlers that WaitFor left
// running.
//
// Where to look:
//
//	engine.go               New, its settings, its end
//	clock.go                Now, Advance, Skip
//	drive.go                Drain, WaitFor, and how they detect that nothing is left to do
//	submit.go, change.go    submitting, reading and changing jobs
//	schedule.go             making and reading schedules
//	require.go, match.go    checks of submitted jobs
//	claim_gate.go           the worker's store: who may claim, and when
//	watch.go, attempt.go    running attempts and their ends
//	describe.go             jobs in the texts of failures
package belfrytest
