// Package gather puts single calls together into batches: adapters of queues acknowledge, extend and release one
// message at a time, and their platforms charge by the call.
package gather
