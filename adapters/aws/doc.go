// Package aws is Belfry on AWS.
//
// Where to look:
//
//	sqs.go               Queue: one SQS queue per priority, opened by gocloud.dev's URLs
//	sqs_topic.go         sends through gocloud.dev/pubsub, in filled batches of ten
//	sqs_subscription.go  receives as many messages as requested and no more, with long polls
//	sqs_delivery.go      acknowledges, extends, releases and rejects, in batches
//	lambda_worker.go     BatchWorker: the jobs of one SQS event, run by one worker
//	lambda_deadline.go   a context that ends before Lambda does
//	lambda_http.go       requests of a Function URL or an HTTP API, to and from http.Handler
//	lambda_stream.go     answers that are sent as the handler writes
//	rds.go               DatabaseTokens: passwords for RDS
//	secret.go            Secret: a secret of Secrets Manager, which settings name instead of a value
//	rds.pem              the root certificates of RDS, included in the zips and the image
//
// Functions behind an event source mapping do not receive: SQS invokes them. Subscriptions are for hosts that pull.
package aws
