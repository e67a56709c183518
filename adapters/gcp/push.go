package gcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	maxPushBody     = 64 << 10 // bytes; messages of ours have less than one tenth
	pushBodyTime    = 30 * time.Second
	handBackTime    = 5 * time.Second // Cloud Run gives the whole stop ten
	leastPush       = 10 * time.Second
	attemptTenths   = 9  // of the deadline that an attempt may have
	startTwentieths = 20 // one of these may pass until it is started
)

// PushStore is what messages that were not started are handed back to.
type PushStore interface {
	Start(ctx context.Context, refs []core.Ref, req core.ClaimRequest) (core.StartResult, error)
	Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error)
}

// PushOptions configure Push.
type PushOptions struct {
	Store PushStore     // required
	ID    string        // names the worker in rows
	Lease time.Duration // of rows on their way back
	// Deadline is the subscription's acknowledgement deadline, 10 s to 10 min: Pub/Sub waits no longer for an answer, and
	// cannot be asked to. Nine tenths of it are an attempt's. Zero means 10 min.
	Deadline time.Duration
	// OnAnswer is told what each message was answered, for the log. Nil means nobody is.
	OnAnswer func(PushAnswer)
}

// PushAnswer is what became of a message.
type PushAnswer struct {
	Subscription string // what Pub/Sub says of it
	Message      string
	Delivery     int // from 1; zero where the subscription has no dead letters
	Status       int // of the answer
	HandedBack   bool
	Err          error
}

// Push is an endpoint of Pub/Sub push subscriptions, and a core.Queue of the messages that they bring, for one
// work.Worker. A request is answered when its message is settled:
//
//	204  the end is recorded, whatever it is, the message is stale, or its row was handed back to the scheduler
//	400  no worker can read it: after some deliveries Pub/Sub moves it to the dead-letter topic
//	503  its row could not be written, or this process is ending: it comes again
//
// Who may call it is not its matter; see Callers.
type Push struct {
	opts PushOptions
	hand
}

// NewPush returns a Push.
func NewPush(o PushOptions) (*Push, error) {
	if o.Deadline == 0 {
		o.Deadline = maxDeadline
	}
	if o.Deadline < leastPush || o.Deadline > maxDeadline {
		return nil, fmt.Errorf("gcp: push deadline %s: want %s to %s", o.Deadline, leastPush, maxDeadline)
	}
	if o.Store == nil {
		return nil, errors.New("gcp: push: want a store")
	}
	return &Push{opts: o, hand: hand{changed: make(chan struct{})}}, nil
}

// MaxTime is the longest that an attempt may take.
func (p *Push) MaxTime() time.Duration { return p.opts.Deadline / 10 * attemptTenths }

// ServeHTTP takes one message and answers when it is settled.
func (p *Push) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := PushAnswer{}
	answer.Status, answer.Err = p.serve(w, r, &answer)
	if answer.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	if p.opts.OnAnswer != nil {
		p.opts.OnAnswer(answer)
	}
	w.WriteHeader(answer.Status)
}

func (p *Push) serve(w http.ResponseWriter, r *http.Request, answer *PushAnswer) (int, error) {
	began := time.Now()
	// A writer that knows no deadlines is a test's.
	_ = http.NewResponseController(w).SetReadDeadline(began.Add(pushBodyTime))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPushBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return http.StatusRequestEntityTooLarge, fmt.Errorf("gcp: push: more than %d bytes", maxPushBody)
	}
	if err != nil {
		return http.StatusBadRequest, fmt.Errorf("gcp: push: the body was not sent: %w", err)
	}
	m := p.add(unwrap(body, answer))
	if m == nil {
		return http.StatusServiceUnavailable, errors.New("gcp: push: this process is ending")
	}
	switch p.await(r.Context(), m, began) {
	case finished:
		return http.StatusNoContent, nil
	case unreadable:
		return http.StatusBadRequest, errors.New("gcp: push: no worker can read it")
	case left:
		answer.HandedBack = true
		err := p.handBack(context.WithoutCancel(r.Context()), m)
		if err == nil {
			return http.StatusNoContent, nil
		}
		return http.StatusServiceUnavailable, err
	case dropped:
		return http.StatusServiceUnavailable, errors.New("gcp: push: Pub/Sub went away before it was started")
	default:
		return http.StatusServiceUnavailable, errors.New("gcp: push: its end is not recorded")
	}
}

// await waits until the message is settled. One that is not started in time is left; one that runs is waited for although
// nobody waits for the answer any more: nothing may outlive its request, and the row will tell the next delivery.
func (p *Push) await(ctx context.Context, m *pushed, began time.Time) itemState {
	start := time.NewTimer(time.Until(began.Add(p.opts.Deadline / startTwentieths)))
	defer start.Stop()
	end := time.NewTimer(time.Until(began.Add(p.opts.Deadline)))
	defer end.Stop()
	gone := ctx.Done()
	for {
		select {
		case <-m.settled:
		case <-start.C:
			p.late(m, left)
			continue
		case <-gone:
			p.late(m, dropped)
			gone = nil
			continue
		case <-end.C:
		}
		return p.stateOf(m)
	}
}

// unwrap takes the message out of Pub/Sub's envelope and notes what the envelope says. What has none is the message
// itself: subscriptions can be told to send it so.
func unwrap(body []byte, answer *PushAnswer) []byte {
	var envelope struct {
		Message *struct {
			Data      []byte `json:"data"`
			MessageID string `json:"messageId"`
		} `json:"message"`
		Subscription    string `json:"subscription"`
		DeliveryAttempt int    `json:"deliveryAttempt"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil || envelope.Message == nil {
		return body
	}
	answer.Subscription, answer.Message, answer.Delivery = envelope.Subscription, envelope.Message.MessageID, envelope.DeliveryAttempt
	return envelope.Message.Data
}

// handBack returns the row of a message that was not started to the scheduler: it is started, and ended uncounted.
func (p *Push) handBack(ctx context.Context, m *pushed) error {
	read, err := core.DecodeMessage(m.body)
	if err != nil {
		return fmt.Errorf("gcp: hand back: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, handBackTime)
	defer cancel()
	ref := core.Ref{ID: read.ID, Token: read.Token}
	res, err := p.opts.Store.Start(ctx, []core.Ref{ref}, core.ClaimRequest{WorkerID: p.opts.ID, ClaimID: rand.Int64(), Lease: p.opts.Lease})
	if err != nil {
		return fmt.Errorf("gcp: hand back: %w", err)
	}
	if len(res.Busy) > 0 {
		return fmt.Errorf("gcp: hand back: %w", core.ErrBusy)
	}
	if len(res.Jobs) == 0 {
		return nil // stale
	}
	answers, err := p.opts.Store.Finish(ctx, []core.End{{Ref: core.Ref{ID: read.ID, Token: res.Jobs[0].LeaseToken}, Outcome: core.EndHandBack}})
	if err == nil && len(answers) > 0 && answers[0].Busy {
		err = core.ErrBusy
	}
	if err != nil {
		return fmt.Errorf("gcp: hand back: %w", err)
	}
	return nil
}
