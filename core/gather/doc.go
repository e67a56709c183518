// Package gather is what adapters of queues have in common: their callers acknowledge, extend and release one
// message at a time while platforms charge by the call, and wait for messages for as long as it pleases them while
// a call once made had better not be cut off.
//
//	gather.go   Gatherer: single items go in batches
//	poll.go     Poll: a call that may outlive who waits for it
package gather
