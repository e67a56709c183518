// Package report ends and extends attempts for targets, which hold the lease token of work that goes on with them.
//
//	report.go  Reporter
//	counts.go  its counts, written a second later
package report
