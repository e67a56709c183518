// Package cloudrun opens what services and worker pools on Cloud Run stand on, and serves HTTP as Cloud Run asks.
//
//	host.go      Host: settings, store, types, webhooks and log of one container
//	database.go  how the database is reached: Cloud SQL plugs in here
//	logger.go    the log as Cloud Logging reads it
//	serve.go     Service and Main: HTTP on the port that Cloud Run names, and the end within its ten seconds
//	callers.go   who may call what Pub/Sub and Cloud Scheduler call
package cloudrun
