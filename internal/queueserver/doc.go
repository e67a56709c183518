// Package queueserver starts the servers that stand for the queues of production, for tests and for programs of
// developers: RabbitMQ itself, moto's server for SQS, and the Pub/Sub emulator of the gcloud SDK. Each runs on free
// ports of 127.0.0.1, in a temporary folder, and does not outlive the process that started it.
//
//	server.go     a server that runs, and can be killed and started again
//	rabbit.go     RabbitMQ
//	emulators.go  moto and the Pub/Sub emulator
package queueserver
