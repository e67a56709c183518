// Package aws is Belfry on AWS.
//
// Where to look:
//
//	sqs.go               Queue: one SQS queue per priority, opened by the URLs of gocloud.dev
//	sqs_topic.go         sends through gocloud.dev/pubsub, in filled batches of ten
//	sqs_subscription.go  receives what is asked for and no more, by long polls
//	sqs_delivery.go      acknowledges, extends, releases and rejects, in batches
//	lambda_worker.go     BatchWorker: the jobs of one SQS event, run by one worker
//	lambda_batch.go      the messages of an event, as a queue
//	lambda_deadline.go   a context that ends before Lambda does
//	lambda_http.go       requests of a Function URL or an HTTP API, to and from http.Handler
//	lambda_stream.go     answers as the handler writes
//	rds.go               DatabaseTokens: what RDS takes in place of a password
//	secret.go            Secret: one of Secrets Manager, that settings name in place of a value
//	rds.pem              the root certificates of RDS, which go into the zips and the image
//
// Functions behind an event source mapping do not receive: SQS calls them. Subscriptions are for hosts that pull.
package aws
