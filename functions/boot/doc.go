// Package boot turns settings into the parts a program is made of: it is the only reader of the environment.
//
//	settings.go   every setting, its default and its rule
//	webhook.go    the parts that deliver webhooks, judge targets and read lease tokens
//	logger.go     the logger, and which of the engine's events are logged at which level
package boot
