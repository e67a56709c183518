package aws

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// poll is a long poll that may outlive the Receive that began it: a call that is cut off can take messages along,
// which then nobody has until their visibility timeout. The next Receive waits for the same call. What comes while
// nobody waits is given back at once.
type poll struct {
	s       *subscription
	running sync.WaitGroup

	mu      sync.Mutex
	waiting bool // someone waits
	max     int  // for so many
	flying  bool // the call is on its way
	result  chan polled
}

type polled struct {
	messages []types.Message
	err      error
}

func (p *poll) init(s *subscription) { p.s, p.result = s, make(chan polled, 1) }

// wait returns the messages of a poll that brought some, at most max. One caller at a time.
func (p *poll) wait(ctx context.Context, max int) ([]types.Message, error) {
	p.mu.Lock()
	p.waiting, p.max = true, max
	if !p.flying {
		p.flying = true
		p.running.Go(p.fly)
	}
	p.mu.Unlock()
	select {
	case r := <-p.result:
		return r.messages, r.err
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting {
		p.waiting = false
		return nil, ctx.Err()
	}
	r := <-p.result // it came at the same time
	return r.messages, r.err
}

// fly polls until messages come, the poll fails, or a call ends while nobody waits.
func (p *poll) fly() {
	for {
		p.mu.Lock()
		most := min(p.max, batchSize)
		p.mu.Unlock()
		messages, err := p.s.receive(most, int32(longPoll.Seconds()))
		if p.landed(messages, err) {
			return
		}
	}
}

// landed hands the answer of a call over, and reports whether the poll is over.
func (p *poll) landed(messages []types.Message, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.s.fail(err)
		err = p.s.failure() // errClosed after Close
	}
	over := len(messages) > 0 || err != nil || !p.waiting
	if !over {
		return false
	}
	p.flying = false
	if kept := min(len(messages), p.max); p.waiting {
		p.waiting = false
		p.result <- polled{messages[:kept], err}
		messages = messages[kept:]
	}
	for _, m := range messages {
		_ = p.s.changes.Add(change{receipt: *m.ReceiptHandle}) // after Close it comes again by itself
	}
	return true
}

// end waits for the call, which has been cut off.
func (p *poll) end() { p.running.Wait() }
