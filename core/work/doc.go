// Package work is the Worker: it claims jobs or receives messages that name them, runs handlers, extends leases and records how
// runs ended, many at a time.
//
// Where to look:
//
//	work.go       Options, Worker and its state
//	claim.go      the claim loop of direct mode; survey.go asks which lanes wait
//	receive.go    the receive loops of queue mode; receive_gate.go divides slots among them, stray.go passes on what others run
//	push.go       messages that come by a call, and the verdict on each; push_messages.go keeps them until then
//	run.go        start and stop; run_attempt.go one run of one job, run_context.go its context, run_watch.go handlers that hang
//	beat.go       heartbeats; beat_register.go and announcer.go say in the store that the worker is there
//	finish.go     ends, written in batches
//	recover.go    claims whose answer was lost
//	deliver.go    jobs whose work is a target's
//	event.go      what an operator is told
package work
