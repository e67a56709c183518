package node

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
)

// brittle is a queue whose topics fail while err is not nil.
type brittle struct {
	core.Queue
	err error
}

func (q *brittle) OpenTopic(context.Context, core.Priority) (core.Topic, error) {
	return brittleTopic{q}, nil
}

type brittleTopic struct{ *brittle }

func (t brittleTopic) Send(_ context.Context, m []core.Message) []error {
	errs := make([]error, len(m))
	for i := range errs {
		errs[i] = t.err
	}
	return errs
}
func (brittleTopic) Close(context.Context) error { return nil }

// TestOutlet: nothing published for longer than patience, while it is tried, is no progress; a message of many is.
func TestOutlet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &brittle{}
		w, outlets := watchOutlets(q)
		topic, err := w.OpenTopic(t.Context(), core.Bulk)
		if err != nil {
			t.Fatal(err)
		}
		stuck := func(want time.Duration) {
			t.Helper()
			if got := outlets[queuegroup.Key{Priority: core.Bulk}].stuck(); got != want {
				t.Errorf("stuck for %s, want %s", got, want)
			}
		}
		send := func() { topic.Send(t.Context(), make([]core.Message, 2)) }
		stuck(0)
		q.err = errors.New("away")
		send()
		time.Sleep(patience)
		send()
		stuck(patience)
		q.err = nil
		send()
		stuck(0)
		q.err = errors.New("away again")
		send()
		time.Sleep(forgotten)
		stuck(forgotten)
		time.Sleep(time.Second) // nothing is left that would be sent: nothing is known
		stuck(0)
		send()
		stuck(0) // it counts from here
		outlets[queuegroup.Key{Priority: core.Bulk}].told([]error{q.err, nil})
		stuck(0)
		send()
		time.Sleep(patience)
		topic.Send(t.Context(), nil) // says nothing
		stuck(patience)
		if outlets[queuegroup.Key{Priority: core.Default}].stuck() != 0 {
			t.Error("another priority is stuck too")
		}
	})
}
