// Package local is the queue of one process: topics and subscriptions of gocloud.dev/pubsub under URLs like
// mem://critical?ackdeadline=1m, in this process's memory. What it holds dies with the process; the rows of the
// store do not, and are published again.
//
// Where to look:
//
//	queue.go          Queue: opens topics and subscriptions by URL
//	topic.go          sends messages in bundles
//	subscription.go   receives bundles and hands out their messages
//	driver.go         the gocloud.dev driver behind both
//	memory.go         the messages themselves: ready, hidden, gone
package local
