package scheduletest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
)

// childVariable makes the test program a tick process: it names the store.
const childVariable = "BELFRY_TEST_TICK_CHILD"

// retentionVariable is how long a tick process keeps history, 0 for ever.
const retentionVariable = "BELFRY_TEST_TICK_RETENTION"

func TestMain(m *testing.M) {
	if where := os.Getenv(childVariable); where != "" {
		if err := runChild(context.Background(), where); err != nil {
			fmt.Fprintln(os.Stderr, "tick child:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// The points at which a child kills itself.
const (
	dieBefore = "before" // before the transaction that advances schedules
	dieAfter  = "after"  // after its commit, before its answer is seen
	dieCancel = "cancel" // with the runs cancelled and the new one not made
	dieTick   = "tick"   // with due schedules listed
)

// clocked is a store whose clock is set by hand.
type clocked struct {
	core.Store
	offset *atomic.Int64
	fixed  bool   // the clock stands still between settings
	faked  string // file that libfaketime reads the database's clock from
}

// openClocked opens the store that where names, "sqlite:FILE", a PostgreSQL address, or "faked:FILE|ADDRESS" of one whose
// server alone lives by another clock.
func openClocked(ctx context.Context, where string) (*clocked, error) {
	c := &clocked{offset: new(atomic.Int64)}
	var err error
	if rest, ok := strings.CutPrefix(where, "faked:"); ok {
		c.faked, where, _ = strings.Cut(rest, "|")
	}
	if file, ok := strings.CutPrefix(where, "sqlite:"); ok {
		c.fixed = true
		c.Store, err = sqlite.Open(ctx, file, sqlite.Options{Clock: func() time.Time { return time.Unix(0, 0) }, Offset: c.offset, NoSync: true})
	} else {
		c.Store, err = postgres.Open(ctx, where, postgres.Options{Clock: c.offset})
	}
	return c, err
}

// set moves the clock to an instant.
func (c *clocked) set(ctx context.Context, us int64) error {
	if c.fixed {
		c.offset.Store(us)
		return nil
	}
	if c.faked != "" {
		return setFaked(c.faked, us-time.Now().UnixMicro())
	}
	now, err := c.Now(ctx)
	if err == nil {
		c.offset.Add(us - now.UnixMicro())
	}
	return err
}

// follow moves the clock to an instant, or where it goes on by itself by an offset from its server's: several processes
// have one clock then, whenever each of them gets to it.
func (c *clocked) follow(us, offset int64) error {
	switch {
	case c.fixed:
		c.offset.Store(us)
	case c.faked != "":
		return setFaked(c.faked, offset)
	default:
		c.offset.Store(offset)
	}
	return nil
}

// deadly is a store that kills its process at a point.
type deadly struct {
	*clocked
	point string
	left  int
}

func (d *deadly) pass(point string) {
	if d.point != point {
		return
	}
	if d.left--; d.left < 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (d *deadly) Tick(ctx context.Context, req core.TickRequest) (core.TickResult, error) {
	res, err := d.clocked.Tick(ctx, req)
	if len(res.Schedules) > 0 {
		d.pass(dieTick)
	}
	return res, err
}

func (d *deadly) Cancel(ctx context.Context, id int64) (core.Job, error) {
	job, err := d.clocked.Cancel(ctx, id)
	d.pass(dieCancel)
	return job, err
}

func (d *deadly) AdvanceSchedules(ctx context.Context, steps []core.Advance, fence []core.Held) ([]core.Advanced, error) {
	d.pass(dieBefore)
	answers, err := d.clocked.AdvanceSchedules(ctx, steps, fence)
	d.pass(dieAfter)
	return answers, err
}

// runChild obeys the driver: each line sets the clock, arms a point, ticks until nothing is due and ends jobs.
func runChild(ctx context.Context, where string) error {
	store, err := openClocked(ctx, where)
	if err != nil {
		return err
	}
	defer store.Close()
	d := &deadly{clocked: store}
	retention, err := time.ParseDuration(os.Getenv(retentionVariable))
	if err != nil {
		return err
	}
	ticker, err := tick.New(d, tick.Options{
		Holder: fmt.Sprint("child-", os.Getpid()), MaintainPeriod: 100_000 * time.Hour, Maintain: core.MaintainRequest{HistoryRetention: retention},
	})
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var us, offset int64
		var finish bool
		if _, err := fmt.Sscan(lines.Text(), &us, &offset, &finish, &d.point, &d.left); err != nil {
			return err
		}
		if err := store.follow(us, offset); err != nil {
			return err
		}
		jobs, err := passOnce(ctx, ticker, store, finish)
		if err != nil && !errors.Is(err, core.ErrUnavailable) { // out of its time, on a machine with much else to do; the next pass goes on
			return err
		}
		fmt.Println(jobs)
	}
	return nil
}

// passOnce ticks until nothing is due, and ends the jobs that are, where asked.
func passOnce(ctx context.Context, ticker *tick.Ticker, store core.Store, finish bool) (made int, err error) {
	for more := true; more; {
		report, err := ticker.Tick(ctx)
		if err != nil {
			return made, err
		}
		made += report.Runs
		more = report.More
	}
	for finish {
		now := time.Now().UnixNano()
		res, err := store.ClaimDue(ctx, core.ClaimRequest{WorkerID: "w", ClaimID: now, Lease: time.Hour, Quotas: []core.Quota{{Priority: core.Default, Type: "work", Limit: 1000}}})
		if err != nil || len(res.Jobs) == 0 {
			return made, err
		}
		ends := make([]core.End, len(res.Jobs))
		for i, job := range res.Jobs {
			ends[i] = core.End{Ref: core.Ref{ID: job.ID, Token: job.LeaseToken}, Outcome: core.EndDone}
		}
		if _, err := store.Finish(ctx, ends); err != nil {
			return made, err
		}
	}
	return made, nil
}
