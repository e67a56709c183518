// Package gcp is Belfry on Google Cloud.
//
// Where to look:
//
//	pubsub.go               Queue: one Pub/Sub topic and subscription per priority, opened by URLs
//	pubsub_topic.go         sends through gocloud.dev/pubsub
//	pubsub_subscription.go  pulls what is asked for and no more
//	pubsub_delivery.go      acknowledges, extends, releases and rejects, in batches
//
// Services behind a push subscription do not receive: Pub/Sub calls them. Subscriptions are for hosts that pull.
package gcp
