// Package report ends and extends attempts for targets, which hold the lease tokens of the jobs that they accepted.
//
//	report.go  Reporter
//	counts.go  its counts, written a second later
package report
