package worker

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/functions/boot"
)

// flaky is a queue that is away while err is not nil, and that nothing comes from.
type flaky struct {
	core.Queue
	err error
}

func (q *flaky) OpenSubscription(context.Context, core.Priority) (core.Subscription, error) {
	return flakySubscription{q}, q.err
}

type flakySubscription struct{ *flaky }

func (s flakySubscription) Receive(ctx context.Context, _ int) ([]core.Delivery, error) {
	if s.err != nil {
		return nil, s.err
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (flakySubscription) Close(context.Context) error { return nil }

// A queue that comes back soon is nobody's concern; one that stays away is why the container is replaced. It is back
// although nothing comes from it.
func TestHealthOfAHostIsThatOfItsQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &flaky{}
		w, lost := watch(q)
		receive := func(d time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			if s, err := w.OpenSubscription(ctx, core.Bulk); err == nil {
				_, _ = s.Receive(ctx, 1)
			}
		}
		told := func(when string, sick bool) {
			t.Helper()
			err := lost.tell(time.Now())
			if (err != nil) != sick || sick && !strings.Contains(err.Error(), "bulk") {
				t.Errorf("%s: %v", when, err)
			}
		}
		told("at first", false)
		q.err = errors.New("away")
		receive(time.Second)
		time.Sleep(lostFor)
		told("soon", false)
		receive(time.Second)
		time.Sleep(time.Second)
		told("late", true)
		q.err = nil
		var calls sync.WaitGroup
		calls.Go(func() { receive(10 * lostFor) }) // and then it breaks
		time.Sleep(steady)
		told("perhaps back", true)
		time.Sleep(time.Second)
		told("back, and idle", false)
		calls.Wait()
		told("just lost again", false)
		time.Sleep(lostFor + time.Second)
		told("lost again", true)
		lost[queuegroup.Key{Priority: core.Bulk}].end(nil, time.Now())
		told("a message came", false)
	})
	if err := (losses)(nil).tell(time.Now()); err != nil {
		t.Errorf("without queues: %v", err)
	}
}

func TestVisibilityIsTheLease(t *testing.T) {
	for lease, want := range map[time.Duration]time.Duration{
		300 * time.Millisecond: time.Second, time.Minute: time.Minute, 90*time.Second + 1: 91 * time.Second, 10 * time.Minute: 10 * time.Minute, 11 * time.Minute: 0,
	} {
		got, err := Visibility(boot.Settings{Lease: lease}, 10*time.Minute)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%s: %s, %v", lease, got, err)
		}
	}
}

// A worker whose health address is in use says so before it says that it runs, and before it touches anything.
func TestAWorkerListensBeforeItRuns(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var log strings.Builder
	o := Options{Settings: boot.Settings{HealthAddr: taken.Addr().String()}, Log: slog.New(slog.NewTextHandler(&log, nil))}
	if err := Serve(t.Context(), o); err == nil || !strings.HasPrefix(err.Error(), "BELFRY_HEALTH_ADDR: ") || log.Len() > 0 {
		t.Errorf("%v\n%s", err, log.String())
	}
}
