package aws

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-dev/belfry/core"
)

func batchOf(ids ...string) *Batch {
	var e events.SQSEvent
	for i, id := range ids {
		m := core.Message{ID: int64(i + 1), Priority: core.Bulk, Type: "t"}
		e.Records = append(e.Records, events.SQSMessage{MessageId: id, Body: string(m.Encode())})
	}
	return NewBatch(e)
}

func failed(b *Batch) (ids []string) {
	for _, f := range b.Failures().BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	return ids
}

func TestBatchTellsWhatIsNotDone(t *testing.T) {
	b := batchOf("a", "b", "c", "d", "", "a")
	sub, err := b.OpenSubscription(t.Context(), core.Bulk)
	if err != nil {
		t.Fatal(err)
	}
	got, err := sub.Receive(t.Context(), 3)
	if err != nil || len(got) != 3 {
		t.Fatalf("%d, %v", len(got), err)
	}
	if err := got[0].Extend(t.Context(), time.Minute); !errors.Is(err, core.ErrCannotExtend) {
		t.Error(err)
	}
	_, _ = got[0].Ack(t.Context()), got[1].(core.Rejecter).Reject(t.Context())
	b.End()
	if ids := failed(b); !slices.Equal(ids, []string{"b", "c", "d"}) {
		t.Errorf("SQS is to keep %v", ids)
	}
	select {
	case <-b.Done():
		t.Error("done, with one in hand")
	default:
	}
	_ = got[2].Ack(t.Context())
	<-b.Done()
	if ids := failed(b); !slices.Equal(ids, []string{"b", "d"}) {
		t.Errorf("then SQS is to keep %v", ids)
	}
	<-NewBatch(events.SQSEvent{}).Done()
}

// TestBatchDeliversAgain: what is given back comes again after its delay, but not for ever.
func TestBatchDeliversAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := batchOf("a")
		sub, _ := b.OpenSubscription(t.Context(), core.Bulk)
		for n := range maxReleases + 1 {
			began := time.Now()
			got, err := sub.Receive(t.Context(), 10)
			if err != nil || len(got) != 1 || n > 0 && time.Since(began) != time.Second {
				t.Fatalf("delivery %d: %d messages after %s, %v", n, len(got), time.Since(began), err)
			}
			_ = got[0].Release(t.Context(), time.Second)
		}
		<-b.Done()
		if refs, _ := b.leftRefs(); len(refs) != 1 {
			t.Errorf("%d rows are to be handed back", len(refs))
		}
	})
}
