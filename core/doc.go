// Package core contains the parts of Belfry's engine: jobs, types and schedules, the ports to stores and queues, the rules of submission,
// errors, and the message. It knows no database, no queue and no cloud; those are adapters behind the ports.
//
// Where to look:
//
//	job.go, priority.go    jobs, their states and priorities
//	jobtype.go, schedule.go, token.go   types, schedules, tokens
//	ports.go               the ports to stores and queues, on one page; port_*.go their arguments and results
//	check.go, check_*.go   the rules of submission
//	errors.go, errtext.go  errors, and how they are kept
//	message.go             what a queue carries
//
// The packages submit, tick, work, schedule and report act on them. Each has a map in its doc.go. They share decide, share,
// fleet, rollup, apart, queuegroup, typecache and storeclock. dialfault explains why connections fail. states is the table
// of states and events, recurrence says when a schedule is due, jsonscan reads JSON.
//
// The contracts of the ports are tests: packages storetest and queuetest.
package core
