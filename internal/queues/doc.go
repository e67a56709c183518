// Package queues gives programs of developers a queue of any kind: it opens one by its URLs, and it starts a server of a
// kind and makes there what an installation would have.
//
//	open.go          the adapter that the URLs' scheme names
//	installation.go  a server with a queue and dead letters for each priority
//	sqs.go           on moto
//	pubsub.go        on the emulator
//	rabbit.go        on RabbitMQ
package queues
