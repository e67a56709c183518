// Package core is what Belfry's engine is made of: jobs, types and schedules, the ports to stores and queues, the rules of what may be
// submitted, errors, and the message. It knows no database, no queue and no cloud; those are adapters behind the ports.
//
// Where to look:
//
//	job.go, priority.go    jobs, their states and priorities
//	jobtype.go, schedule.go, token.go   types, schedules, tokens
//	ports.go               what core asks of a store and of a queue, on one page; port_*.go what they are asked with
//	check.go, check_*.go   the rules of what may be submitted
//	errors.go, errtext.go  errors, and how they are kept
//	message.go             what a queue carries
//
// What is done with them has rooms of its own, each with its map: submit, tick, work, schedule and report. They share decide, share,
// fleet, rollup, apart, queuegroup, typecache and storeclock. dialfault words why connections fail. states is the table of states and events, recurrence says when a schedule is due,
// jsonscan reads JSON.
//
// The contracts of the ports are tests: packages storetest and queuetest.
package core
