// Package webhook delivers jobs to URLs: a core.Handler that posts a job's payload to its target.
//
//	webhook.go     Options, New, Work: one attempt from the job to how it ended
//	target.go      what a job says of its target, and the headers it may set
//	guard.go       Guard: which URLs and addresses may be reached; the one judge at create, change, test and delivery
//	early.go       what create and change ask of the guard: also what hosts resolve to now
//	hosts.go       the rules of a URL's host
//	dial.go        resolve, judge every address, connect to one that was judged
//	refusals.go    tells the operator which addresses names were refused for
//	answered_conn.go  a connection on which an early answer can be read
//	sign.go        secrets and signatures of Standard Webhooks 1.0.0
//	leasetoken.go  the token with which a target reports on its own attempt
//	request.go     the request of one attempt
//	stage.go       the time each stage of an exchange may take
//	answer.go      what a status and a body mean for the job
//	describe.go    faults of the network in words that tell nothing of the payload or the network
//	route.go       whose slots a delivery takes, and which host and endpoint it goes to
//	breaker.go     when to leave a failing host or endpoint alone, as pure policy
//	room.go        how many deliveries may be in flight, as pure policy, and how many are
//	places.go      memory of hosts and endpoints, bounded
//	admission.go   admits deliveries, or puts them back
//	event.go       what the operator is told of hosts and endpoints
//
// Nothing here logs, and no error holds a secret, a payload, a response, a URL's user or query, or an address that
// a name resolved to.
package webhook
