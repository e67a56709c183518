// Package cloudrun opens what services and worker pools on Cloud Run stand on, and serves HTTP as Cloud Run asks.
//
//	host.go      Host: settings, store, types, webhooks and log of one container
//	database.go  how the database is reached: Cloud SQL plugs in here
//	logger.go    the log as Cloud Logging reads it
package cloudrun
