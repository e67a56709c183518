package gcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/belfry-dev/belfry/core/work"
)

const (
	maxPushBody     = 64 << 10 // bytes; our messages have less than a tenth of that
	pushBodyTime    = 30 * time.Second
	leastPush       = 10 * time.Second
	attemptTenths   = 9  // tenths of the deadline for an attempt
	startTwentieths = 20 // one twentieth of the deadline is the limit for a start
)

// PushOptions configure Push.
type PushOptions struct {
	// Deadline is the subscription's acknowledgement deadline, 10 s to 10 min. Pub/Sub waits no longer for an answer, and it
	// cannot be extended. An attempt may take nine tenths of it. Zero means 10 min.
	Deadline time.Duration
	// OnAnswer is called with the answer to each message, for the log. Nil means no call.
	OnAnswer func(PushAnswer)
}

// PushAnswer is the answer to one message.
type PushAnswer struct {
	Subscription string // as named by Pub/Sub
	Message      string
	Delivery     int // from 1; zero if the subscription has no dead letters
	Status       int // status of the answer
	HandedBack   bool
	Err          error
}

// Push answers the requests of Pub/Sub push subscriptions. It answers a request when its message has a verdict:
//
//	204  the end is recorded, whatever it is, the message is stale, or its row was handed back to the scheduler
//	400  no worker can read it: after some deliveries Pub/Sub moves it to the dead-letter topic
//	503  its row could not be written, or this process is ending: it comes again
//
// It does not check the caller; see Callers.
type Push struct{ opts PushOptions }

// PushWorker runs the jobs of messages. A running work.Worker implements it.
type PushWorker interface {
	Push(ctx context.Context, messages [][]byte, o work.PushOptions) ([]work.Verdict, error)
}

// NewPush returns a Push.
func NewPush(o PushOptions) (*Push, error) {
	if o.Deadline == 0 {
		o.Deadline = maxDeadline
	}
	if o.Deadline < leastPush || o.Deadline > maxDeadline {
		return nil, fmt.Errorf("gcp: push deadline %s: want %s to %s", o.Deadline, leastPush, maxDeadline)
	}
	return &Push{o}, nil
}

// MaxTime returns the maximum duration of an attempt.
func (p *Push) MaxTime() time.Duration { return p.opts.Deadline / 10 * attemptTenths }

// Handler returns the endpoint: each request brings one message, and w runs its job.
func (p *Push) Handler(w PushWorker) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		answer := PushAnswer{}
		answer.Status, answer.Err = p.serve(rw, r, w, &answer)
		if answer.Status == http.StatusServiceUnavailable {
			rw.Header().Set("Retry-After", "1")
		}
		if p.opts.OnAnswer != nil {
			p.opts.OnAnswer(answer)
		}
		rw.WriteHeader(answer.Status)
	})
}

// serve reads the message, runs its job, and returns the status for the answer. It waits for a running job even after the
// caller has gone, because nothing may outlive its request. The next delivery finds the result in the row.
func (p *Push) serve(rw http.ResponseWriter, r *http.Request, w PushWorker, answer *PushAnswer) (int, error) {
	began := time.Now()
	// Only tests use a writer without deadlines.
	_ = http.NewResponseController(rw).SetReadDeadline(began.Add(pushBodyTime))
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxPushBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return http.StatusRequestEntityTooLarge, fmt.Errorf("gcp: push: more than %d bytes", maxPushBody)
	}
	if err != nil {
		return http.StatusBadRequest, fmt.Errorf("gcp: push: the body was not sent: %w", err)
	}
	verdicts, err := w.Push(r.Context(), [][]byte{unwrap(body, answer)}, work.PushOptions{
		StartBy: began.Add(p.opts.Deadline / startTwentieths), AnswerBy: began.Add(p.opts.Deadline),
	})
	if err != nil {
		return http.StatusServiceUnavailable, fmt.Errorf("gcp: push: %w", err)
	}
	switch verdicts[0] {
	case work.Finished, work.HandedBack:
		answer.HandedBack = verdicts[0] == work.HandedBack
		return http.StatusNoContent, nil
	case work.Unreadable:
		return http.StatusBadRequest, errors.New("gcp: push: no worker can read it")
	case work.Stopped:
		return http.StatusServiceUnavailable, errors.New("gcp: push: this process is ending")
	case work.Abandoned:
		return http.StatusServiceUnavailable, errors.New("gcp: push: Pub/Sub went away before it was started")
	default:
		return http.StatusServiceUnavailable, errors.New("gcp: push: its row could not be written")
	}
}

// unwrap returns the message in Pub/Sub's envelope, and stores the envelope's fields in answer. A body without an envelope
// is the message itself: subscriptions can be configured to send it so.
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
