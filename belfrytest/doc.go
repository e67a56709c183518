// Package belfrytest runs a program's handlers on the real engine, in the test's own process, with a clock that
// stands still until the test advances it. Hours of back-off, snoozes and timeouts pass in milliseconds and on the
// same instant every time; nothing in it sleeps.
//
//	e := belfrytest.New(t, set)
//	id := e.Submit("email.send", Email{To: "ada@example.com"})
//	e.Drain()                   // runs what is due
//	e.Advance(30 * time.Second) // the retry, if the first attempt failed
//	e.WaitFor(id, core.Done)
//
// Store, scheduler, worker and submitter are those of production: the store is adapters/sqlite on a file that goes
// with the test, and only does not wait for the disk. Each Engine is alone, so tests may run in parallel. Back-offs are
// not moved at random, so waits are exact. Jobs run one after the other, by priority and then by when they are due,
// unless Options.Slots says otherwise.
//
// Time passes in Advance only. Nothing runs outside Drain, Advance and WaitFor, except what WaitFor left running.
//
// Where to look:
//
//	engine.go               New, its settings, its end
//	clock.go                Now, Advance, Skip
//	drive.go                Drain, WaitFor, and how they know that nothing is left to do
//	submit.go, change.go    submitting, reading and changing jobs
//	schedule.go             making and reading schedules
//	require.go, match.go    what code under test must have submitted
//	claim_gate.go           between worker and store: who may claim, and when
//	watch.go, attempt.go    running attempts and their ends
//	describe.go             jobs in the texts of failures
package belfrytest
