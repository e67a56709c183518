// Package show writes what answers hold.
//
//	job.go      jobs, and the parts of documents
//	instant.go  times
package show
