// Package webhook delivers jobs to URLs: a core.Handler that posts a job's payload to its target.
//
//	webhook.go     Options, New, Work: one attempt from the job to how it ended
//	target.go      a job's target, and the headers that it may set
//	guard.go       Guard: which URLs and addresses may be reached; used at create, change, test and delivery
//	early.go       checks of the guard at create and change, including what hosts resolve to now
//	hosts.go       the rules of a URL's host
//	dial.go        resolves a host, checks every address, connects to a checked one
//	refusals.go    reports refused addresses to the operator
//	answered_conn.go  a connection on which an early answer can be read
//	sign.go        secrets and signatures of Standard Webhooks 1.0.0
//	leasetoken.go  the token with which a target reports on its own attempt
//	request.go     the request of one attempt
//	stage.go       the time each stage of an exchange may take
//	answer.go      what a status and a body mean for the job
//	describe.go    network errors in words that reveal nothing of the payload or the network
//	route.go       whose slots a delivery uses, and its host and endpoint
//	breaker.go     when to pause a failing host or endpoint, as pure policy
//	room.go        how many deliveries may be in flight, as pure policy, and the current counts
//	places.go      memory of hosts and endpoints, bounded
//	admission.go   admits deliveries, or snoozes them
//	event.go       events about hosts and endpoints for the operator
//
// The package does not log. No error contains a secret, a payload, a response, a URL's user or query, or an address that a
// name resolved to.
package webhook
