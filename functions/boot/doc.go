// Package boot turns settings into the parts a program is made of: it is the only reader of the environment.
//
//	settings.go   every setting, its default and its rule
//	priorities.go, queue_groups.go  which jobs a worker takes, and from which queues
//	cloud.go      which settings are another cloud's, and refused
//	caller.go     the settings of who may call tick and worker on Cloud Run
//	economy.go    how late an occurrence may be in economy mode
//	alerts.go     what is told of an alert
//	health.go     the health of a process over HTTP, served and asked
//	version.go    the version of the program
//	webhook.go    the parts that deliver webhooks, judge targets and read lease tokens
//	logger.go     the logger, and which of the engine's events are logged at which level
package boot
