// Package gather holds the parts that adapters of queues share. Workers acknowledge, extend and release one message at a
// time, but platforms charge per call, so single items are sent in batches. Workers may also stop waiting for messages at
// any time, but a receive call should not be cut off once it is sent.
//
//	gather.go   Gatherer: sends single items in batches
//	poll.go     Poll: a receive call that may outlive its caller
package gather
