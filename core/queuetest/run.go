package queuetest

import "testing"

// Run runs all cases of the contract.
func Run(t *testing.T, h Harness) {
	for _, c := range []struct {
		name string
		test func(*stage)
	}{
		{"Send/messages are received byte for byte", sendReceive},
		{"Send/a large batch arrives whole", sendBatch},
		{"Send/an empty call sends nothing", sendNothing},
		{"Send/texts that are not UTF-8 arrive as UTF-8", sendNotUTF8},
		{"Send/after the end of its context every message is unknown", sendCancelled},
		{"Send/the same message twice is two deliveries", sendTwice},
		{"OpenTopic/each priority has a queue of its own", priorities},
		{"OpenSubscription/what was sent before it opened is received", sendBeforeOpen},
		{"OpenSubscription/two share the messages, none gets all twice", compete},
		{"Receive/it returns at most as many messages as requested", receiveAtMost},
		{"Receive/it returns available messages instead of waiting for more", receiveAtHand},
		{"Receive/it waits for a message that comes later", receiveWaits},
		{"Receive/the end of its context leaves the subscription alive", receiveCancelled},
		{"Receive/every message arrives, in any order", receiveAnyOrder},
		{"Receive/a foreign body arrives unchanged", receiveForeign},
		{"Receive/a body that is not UTF-8 is not a Belfry message", receiveNotUTF8},
		{"Ack/an acknowledged message does not come again", ack},
		{"Ack/an unacknowledged message comes again after the visibility timeout", expiry},
		{"Ack/each message of a batch is acknowledged separately", ackSome},
		{"Ack/many at once from many goroutines", ackConcurrently},
		{"Release/a released message comes again", release},
		{"Release/not before the delay has passed", releaseDelayed},
		{"Extend/an extended message does not come again during the extension", extend},
		{"Extend/an extended message comes again after that", extendExpires},
		{"Extend/other unacknowledged messages come again while one is extended", extendOne},
		{"Extend/a queue that cannot says so", cannotExtend},
		{"Reject/a foreign message goes to the dead letters, its neighbours do not", reject},
		{"DeadLetters/a message given back too often goes there, and not before", giveBackTooOften},
		{"Close/unacknowledged messages come to the next subscription", closeUnacknowledged},
		{"Close/messages acknowledged just before do not come again", closeAcknowledged},
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
