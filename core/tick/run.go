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
	tickRetryMax = 4 * time.Second        // longest wait after failed passes, so the end of an outage is noticed within this time
	eventEvery   = 30 * time.Second       // repeated failures are reported this often
	passFor      = 5 * time.Second        // maximum duration of Pass; the next one does the rest
	passGap      = 20 * time.Millisecond  // between the passes of a Pass
	standbyShare = 0.75                   // of a period: a standby's takeover then ends within lease + one period
)

// Run makes passes until ctx is cancelled or until a margin before its deadline. Then it leaves: it waits for its publishing
// and releases its leases, so that the next holder can begin at once. It retries errors of the store (an outage, a read-only
// standby) with growing, jittered pauses. Leaving is a success; Run returns an error only if leaving failed, so that the
// next holder must wait for the leases to expire.
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
			// The stop cut the pass off; this is no failure.
		case err != nil:
			rest = trouble.wait(t.opts.Chance())
			t.reportFailure(&trouble, err)
		default:
			t.reportRecovery(&trouble)
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

// Pass does what is due now and leaves as Run does. It is for hosts that tick rarely, perhaps in another process each time.
// It makes passes until one finds nothing, at least two because the first one learns which jobs wait. It stops after passFor
// or a margin before ctx's deadline. Use a Ticker for one Run or Pass only.
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
		err = nil // the stop cut the pass off; this is no failure
	}
	t.background.Wait()
	end()
	return errors.Join(err, t.leave(ctx))
}

// idle reports whether a pass found nothing to do.
func (r *Report) idle() bool {
	return !r.More && r.Lost+r.Expired+r.Schedules+r.Dispatched == 0
}

// beforeDeadline returns ctx with a deadline earlier by the margin, if it has one.
func (t *Ticker) beforeDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-t.opts.Margin))
	}
	return context.WithCancel(ctx)
}

// pause returns how long to wait after a successful pass.
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

// leave waits for upkeep and publishing, and releases the leases. If something is still being published, it lets the leases
// expire: the next holder then publishes it again.
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
	told    string // kind of the last reported failure
}

// wait returns the pause after another failure. It doubles up to a maximum, with jitter so that many tickers do not return
// to a recovering database at once.
func (f *failures) wait(chance float64) time.Duration {
	d := tickRetryMax
	if f.inRow < 6 {
		d = min(d, tickRetryMin<<f.inRow)
	}
	f.inRow++
	return d/2 + time.Duration(chance*float64(d)/2)
}

// reportFailure reports a failed pass: at once if its kind differs from the last reported one, otherwise rarely.
func (t *Ticker) reportFailure(f *failures, err error) {
	f.untold++
	if now, kind := time.Now(), kindOfOutage(err); f.told != kind || !now.Before(f.nextSay) {
		t.event(Event{Kind: TickFailed, Err: err, Count: f.untold})
		f.untold, f.nextSay, f.told = 0, now.Add(eventEvery), kind
	}
}

// kindOfOutage names the sentinel error that an operator would act on.
func kindOfOutage(err error) string {
	for _, kind := range []error{core.ErrFull, core.ErrUnsafe, core.ErrRights, core.ErrReadOnly, core.ErrUnavailable, core.ErrSchema, core.ErrBusy, core.ErrCorrupt} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return "other"
}

func (t *Ticker) reportRecovery(f *failures) {
	if f.inRow > 0 {
		t.event(Event{Kind: TickRecovered, Count: f.inRow})
		f.inRow, f.untold, f.told = 0, 0, ""
	}
}
