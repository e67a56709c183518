// Package gcp is Belfry on Google Cloud.
//
// Where to look:
//
//	pubsub.go               Queue: one Pub/Sub topic and subscription per priority, opened by URLs
//	pubsub_topic.go         sends through gocloud.dev/pubsub
//	pubsub_subscription.go  pulls as many messages as requested and no more
//	pubsub_delivery.go      acknowledges, extends, releases and rejects, in batches
//	push.go                 Push: the endpoint of push subscriptions, for one worker
//	push_callers.go         Callers: checks the identity tokens of Pub/Sub and Cloud Scheduler
//	push_keys.go            the keys that sign those tokens
//	cloudsql.go             connections to Cloud SQL through Google's connector
//
// Services behind a push subscription do not pull: Pub/Sub calls them. Subscriptions are for hosts that pull.
package gcp
