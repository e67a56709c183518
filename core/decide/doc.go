// Package decide turns the end of a run into the end that is written. It is pure policy: it reads no clock, does no I/O and
// takes chance as an argument.
//
// Where to look:
//
//	decide.go   End: after a handler has returned
//	lost.go     Lost: after a lease has passed
//	backoff.go  waits between attempts
package decide
