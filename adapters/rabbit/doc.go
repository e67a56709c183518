// Package rabbit is the queue on RabbitMQ: one durable queue per priority, with dead letters.
//
// Where to look:
//
//	queue.go         Queue: opens topics and subscriptions by URL
//	connection.go    a connection that can be cut off, and the queues that are declared over it
//	topic.go         sends, and connects again when it must
//	subscription.go  receives what is asked for and no more
//	delivery.go      acknowledges, rejects, releases through queues that delay
//
// RabbitMQ has no visibility timeout: what a worker holds comes again when its connection ends. Until then the
// lease in the job's row decides alone.
package rabbit
