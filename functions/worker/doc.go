// Package worker is the worker function without a cloud: it runs jobs until its context ends, straight from
// the table (direct mode) or from the queues. The types of Tryout are built in.
package worker
