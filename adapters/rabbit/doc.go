// Package rabbit is the queue on RabbitMQ: one durable queue per priority, with dead letters.
//
// Where to look:
//
//	queue.go         Queue: opens topics and subscriptions by URL
//	connection.go    a connection that can be cut, and the queues declared over it
//	topic.go         sends, and reconnects when necessary
//	subscription.go  receives as many messages as requested and no more
//	delivery.go      acknowledges, rejects, and releases through queues that delay
//
// RabbitMQ has no visibility timeout: unacknowledged messages come again when the worker's connection ends. Until then only
// the lease in the job's row decides.
package rabbit
