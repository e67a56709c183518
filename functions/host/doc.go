// Package host opens what the roles of one process stand on, and runs them. It names no cloud, no broker and no database:
// a Platform gives those.
//
//	platform.go   what differs between platforms
//	host.go       Open and New: settings, log, store, types, webhooks, the tick's waker; Begin and end of an invocation
//	run.go        runs roles until the process is told to stop, and serves their health
//	watch.go      which queues cannot be received from or published to
package host
