// Package queuetest is the contract of core.Queue, written as tests. Every adapter runs the whole of it and
// declares in its Harness what its queue cannot do; a case that needs it says so when it is skipped.
//
// Faulty wraps a queue and breaks it on demand, for tests of those who use one.
package queuetest
