package queuetest

import "testing"

// Run runs the contract.
func Run(t *testing.T, h Harness) {
	for _, c := range []struct {
		name string
		test func(*stage)
	}{
		{"Send/what is sent is received, byte for byte", sendReceive},
		{"Send/a large batch arrives whole", sendBatch},
		{"Send/nothing is nothing", sendNothing},
		{"Send/texts that are not UTF-8 arrive as UTF-8", sendNotUTF8},
		{"Send/after the end of its context every message is unknown", sendCancelled},
		{"Send/the same message twice is two deliveries", sendTwice},
		{"OpenTopic/each priority has a queue of its own", priorities},
		{"OpenSubscription/what was sent before it opened is received", sendBeforeOpen},
		{"OpenSubscription/two share the messages, none gets all twice", compete},
		{"Receive/it gives at most what is asked for", receiveAtMost},
		{"Receive/it returns what is at hand instead of waiting for more", receiveAtHand},
		{"Receive/it waits for a message that comes later", receiveWaits},
		{"Receive/the end of its context leaves the subscription alive", receiveCancelled},
		{"Receive/every message comes, in whatever order", receiveAnyOrder},
		{"Receive/a stranger's body is handed over as it is", receiveForeign},
		{"Receive/a body that is not UTF-8 is no message of ours", receiveNotUTF8},
		{"Ack/an acknowledged message does not come again", ack},
		{"Ack/an unacknowledged message comes again after the visibility timeout", expiry},
		{"Ack/each of a batch is acknowledged by itself", ackSome},
		{"Ack/many at once from many goroutines", ackConcurrently},
		{"Release/a released message comes again", release},
		{"Release/not before the delay has passed", releaseDelayed},
		{"Extend/an extended message does not come again meanwhile", extend},
		{"Extend/an extended message comes again after that", extendExpires},
		{"Extend/others in hand come again while one is extended", extendOne},
		{"Extend/a queue that cannot says so", cannotExtend},
		{"Reject/what is none of ours goes to the dead letters, its neighbours do not", reject},
		{"DeadLetters/a message given back too often goes there, and not before", giveBackTooOften},
		{"Close/what was received and not acknowledged comes to the next subscription", closeUnacknowledged},
		{"Close/what was acknowledged just before does not come again", closeAcknowledged},
		{"Close/it ends a Receive that waits", closeWhileReceiving},
		{"Close/a broken subscription fails until another is opened", breakAndReopen},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(t *testing.T) { c.test(set(t, h)) }
			if h.Wrap != nil {
				h.Wrap(t, run)
				return
			}
			run(t)
		})
	}
}
