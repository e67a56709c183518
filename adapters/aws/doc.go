// Package aws is Belfry on AWS.
//
// Where to look:
//
//	sqs.go               Queue: one SQS queue per priority, opened by the URLs of gocloud.dev
//	sqs_topic.go         sends through gocloud.dev/pubsub, in filled batches of ten
//	sqs_subscription.go  receives what is asked for and no more, by long polls
//	sqs_delivery.go      acknowledges, extends, releases and rejects, in batches
//
// Functions behind an event source mapping do not receive: SQS calls them. Subscriptions are for hosts that pull.
package aws
