package tick

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/internal/wait"
)

const (
	tickRetryMin = 100 * time.Millisecond // first wait after a failed pass
	tickRetryMax = 4 * time.Second        // longest wait after failed passes: an outage's end is noticed this soon
	eventEvery   = 30 * time.Second       // repeated failures are told this often
	passFor      = 5 * time.Second        // most that a Pass takes on; what is left is the next one's
	passGap      = 20 * time.Millisecond  // between the passes of a Pass
	standbyShare = 0.75                   // of a period: a standby's takeover then ends within lease + one period
)

// Run makes passes until ctx is cancelled or a margin before ctx's deadline, then leaves: it waits for what it
// is publishing and releases its leases, so that the next holder begins at once. Errors of the store, an
// outage or a read-only standby, are waited out with growing, jittered pauses. Leaving on purpose is success:
// the error is about the leaving only, and says that the next holder has to wait for the leases to run out.
func (t *Ticker) Run(ctx context.Context) error {
	until, end := t.beforeDeadline(ctx)
	defer end()
	loop, stop := context.WithCancel(until)
	defer stop()
	began := time.Now()
	var trouble failures
	for loop.Err() == nil {
		started := time.Now()
		report, err := t.pass(loop, until)
		var rest time.Duration
		switch {
		case err != nil && loop.Err() != nil:
			// Cut off by the stop, not a failure.
		case err != nil:
			rest = trouble.wait(t.opts.Chance())
			t.tellFailure(&trouble, err)
		default:
			t.tellRecovery(&trouble)
			if t.leavesIdle(&report, time.Since(began)) {
				stop()
			}
			rest = t.pause(report, time.Since(started))
		}
		wait.Sleep(loop, rest)
	}
	t.background.Wait()
	end()
	return t.leave(ctx)
}

// Pass does what there is to do now and leaves as Run does: for hosts that tick rarely, each time perhaps by another
// process. It makes passes until one finds nothing, at least two because the first learns what waits, for at most
// passFor or until a margin before ctx's deadline. A Ticker makes one Run or Pass.
func (t *Ticker) Pass(ctx context.Context) error {
	until, end := t.beforeDeadline(ctx)
	defer end()
	loop, stop := context.WithTimeout(until, passFor)
	defer stop()
	var err error
	for n := 0; err == nil && loop.Err() == nil; n++ {
		var report Report
		if report, err = t.pass(loop, until); report.idle() && n > 0 {
			if report.Held > 0 {
				t.dueIn = report.DueIn
			}
			break
		}
		wait.Sleep(loop, min(report.NextIn, passGap))
	}
	if loop.Err() != nil {
		err = nil // cut off by the stop, not a failure
	}
	t.background.Wait()
	end()
	return errors.Join(err, t.leave(ctx))
}

// idle reports whether a pass found nothing to do.
func (r *Report) idle() bool {
	return !r.More && r.Lost+r.Expired+r.Schedules+r.Dispatched == 0
}

// beforeDeadline is ctx, ending a margin before its deadline if it has one.
func (t *Ticker) beforeDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-t.opts.Margin))
	}
	return context.WithCancel(ctx)
}

// pause is how long to wait after a pass that succeeded.
func (t *Ticker) pause(report Report, took time.Duration) time.Duration {
	rest := min(t.opts.Period, report.NextIn)
	switch {
	case report.More:
		return 0
	case report.Held == 0:
		rest = time.Duration(standbyShare * float64(t.opts.Period))
	}
	return rest - took
}

// leave waits for upkeep and publishing and releases the leases as clean. While something is still being
// published they are left to run out: the next holder then publishes it again.
func (t *Ticker) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.opts.Margin)
	defer cancel()
	t.background.Wait()
	if t.dispatcher != nil {
		if err := t.dispatcher.publisher.leave(ctx, t.store); err != nil {
			return fmt.Errorf("ticker: leave: %w", err)
		}
	}
	if err := t.store.ReleaseLeases(ctx, t.opts.Holder); err != nil {
		return fmt.Errorf("ticker: release leases: %w", err)
	}
	return nil
}

// failures counts failed passes in a row.
type failures struct {
	inRow   int
	untold  int
	nextSay time.Time
	told    string // the kind of the last one told
}

// wait is the pause after one more failure: doubling, capped, and spread so that many tickers do not return
// to a recovering database at once.
func (f *failures) wait(chance float64) time.Duration {
	d := tickRetryMax
	if f.inRow < 6 {
		d = min(d, tickRetryMin<<f.inRow)
	}
	f.inRow++
	return d/2 + time.Duration(chance*float64(d)/2)
}

// tellFailure tells of a failed pass: at once when it fails in another way than the last one told, else rarely.
func (t *Ticker) tellFailure(f *failures, err error) {
	f.untold++
	if now, kind := time.Now(), kindOfOutage(err); f.told != kind || !now.Before(f.nextSay) {
		t.event(Event{Kind: TickFailed, Err: err, Count: f.untold})
		f.untold, f.nextSay, f.told = 0, now.Add(eventEvery), kind
	}
}

// kindOfOutage names the sentinel an operator would act on.
func kindOfOutage(err error) string {
	for _, kind := range []error{core.ErrFull, core.ErrUnsafe, core.ErrRights, core.ErrReadOnly, core.ErrUnavailable, core.ErrSchema, core.ErrBusy, core.ErrCorrupt} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return "other"
}

func (t *Ticker) tellRecovery(f *failures) {
	if f.inRow > 0 {
		t.event(Event{Kind: TickRecovered, Count: f.inRow})
		f.inRow, f.untold, f.told = 0, 0, ""
	}
}
