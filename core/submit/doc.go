// Package submit writes jobs for many callers at once.
//
// Where to look:
//
//	submit.go    Submitter: checks jobs and gives them what their types define
//	group.go     how calls share commits
//	dispatch.go  Dispatcher: publishes jobs that are due at once, in queue mode
package submit
