// Package decide turns the end of a run into what is written of it. It is policy: it reads no clock and calls nobody, and chance is
// an argument.
//
// Where to look:
//
//	decide.go   End: after a handler has returned
//	lost.go     Lost: after a lease has passed
//	backoff.go  waits between attempts
package decide
