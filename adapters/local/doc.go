// Package local is the queue of one process: topics and subscriptions of gocloud.dev/pubsub in memory, with URLs like
// mem://critical?ackdeadline=1m. The messages are lost when the process ends. The rows in the store are not, so the jobs are
// published again.
//
// Where to look:
//
//	queue.go          Queue: opens topics and subscriptions by URL
//	topic.go          sends messages in bundles
//	subscription.go   receives bundles and passes on their messages
//	driver.go         the gocloud.dev driver behind both
//	memory.go         the messages: ready, hidden, gone
package local
