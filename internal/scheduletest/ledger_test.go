package scheduletest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/internal/testenv"
)

func large() bool { return os.Getenv("BELFRY_TEST_LARGE") != "" }

// span is a stretch of time that schedules live through.
type span struct {
	name      string
	from      time.Time
	length    time.Duration
	schedules int
	draw      func(rng *rand.Rand, i int) core.ScheduleRule
	step      func(rng *rand.Rand) time.Duration
	outage    time.Duration // in the middle
	kills     int           // one pass in about so many
	retention time.Duration // of history, where several processes share a database. Zero means for ever
}

func mixed(rng *rand.Rand, i int) core.ScheduleRule {
	if i < 400 && i%4 < 2 {
		return drawOften(rng, i/2%100)
	}
	return drawSeldom(rng)
}

// spans are the two days around each change of the clock and two years; in an ordinary run a few hours of one.
func spans() []span {
	short := func(rng *rand.Rand) time.Duration {
		if rng.IntN(4) == 0 {
			return time.Duration(rng.Int64N(int64(5 * time.Minute)))
		}
		return time.Duration(rng.Int64N(int64(40 * time.Second)))
	}
	long := func(rng *rand.Rand) time.Duration {
		if rng.IntN(3) == 0 {
			return time.Duration(rng.Int64N(int64(30 * time.Second)))
		}
		return time.Duration(rng.Int64N(int64(12 * time.Hour)))
	}
	if !large() {
		return []span{{"hours around a change", time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC), 90 * time.Minute, 100, mixed, short, 20 * time.Minute, 4, 0}}
	}
	return []span{
		{"forward", time.Date(2026, 3, 28, 1, 0, 0, 0, time.UTC), 48 * time.Hour, 1000, mixed, short, 6 * time.Hour, 12, 0},
		{"back", time.Date(2026, 10, 24, 1, 0, 0, 0, time.UTC), 48 * time.Hour, 1000, mixed, short, 6 * time.Hour, 12, 0},
		{"two years", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 2 * 365 * 24 * time.Hour, 400, func(rng *rand.Rand, _ int) core.ScheduleRule { return drawSeldom(rng) }, long, 6 * time.Hour, 12, 7 * 24 * time.Hour},
	}
}

// The ledger has each due instant exactly once, and the jobs are those the policies imply, whenever ticks die.
func TestLedgerThroughKills(t *testing.T) {
	for _, sp := range spans() {
		t.Run("sqlite/"+sp.name, func(t *testing.T) {
			t.Parallel()
			live(t, "sqlite:"+filepath.Join(t.TempDir(), "belfry.db"), 1, sp)
		})
		t.Run("postgres/"+sp.name, func(t *testing.T) {
			t.Parallel()
			address := testenv.Postgres(t)
			if err := postgres.Migrate(t.Context(), address); err != nil {
				t.Fatal(err)
			}
			live(t, address, 2, sp)
		})
	}
}

// live leads schedules through a span, with so many tick processes at once, and checks what came of it.
func live(t *testing.T, where string, processes int, sp span) {
	seed := uint64(time.Now().UnixNano())
	began := time.Now()
	rng := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	prepare(t, where, sp, rng)
	run := &run{t: t, where: where, procs: make([]*process, processes)}
	t.Cleanup(run.close)
	var kept keeper
	if processes > 1 && sp.retention > 0 { // one process has its file for itself
		run.retention = sp.retention
		store, err := openClocked(t.Context(), where)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		kept.store = store
	}
	progress := newProgress(t)
	end, outage := sp.from.Add(sp.length), sp.from.Add(sp.length/2)
	for at := sp.from; at.Before(end); at = at.Add(sp.step(rng)) {
		if sp.outage > 0 && at.After(outage) {
			at, sp.outage = at.Add(sp.outage), 0
		}
		orders := make([]order, processes)
		for i := range orders {
			orders[i] = randomOrder(rng, at, sp.kills)
		}
		run.pass(orders)
		kept.at(t, at)
		progress.tell("%s, %d%% of the span, %d passes, %d processes killed, %d jobs reported", at.Format(time.DateTime), at.Sub(sp.from)*100/sp.length, run.passes, run.killed, run.made)
	}
	for i := range 5 { // the last ones undisturbed, leases of the dead run out meanwhile
		run.pass([]order{{at: end.Add(time.Duration(i) * 10 * time.Second), point: "-"}})
	}
	run.close()
	check(t, where, end.Add(40*time.Second), &kept.archive, fmt.Sprintf("%d passes, %d processes killed, %d jobs reported", run.passes, run.killed, run.made), began)
}

// prepare makes the schedules.
func prepare(t *testing.T, where string, sp span, rng *rand.Rand) {
	t.Helper()
	store, err := openClocked(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	acts := schedule.NewActs(store, schedule.Options{}, nil)
	for i := range sp.schedules {
		if i%100 == 0 { // the clock of a database goes on
			if err := store.set(t.Context(), sp.from.UnixMicro()); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := acts.Put(t.Context(), "", fmt.Sprintf("s%04d", i), sp.draw(rng, i), schedule.Match{}); err != nil {
			t.Fatal(err)
		}
	}
}

// run is a number of tick processes, started anew when they die.
type run struct {
	t         *testing.T
	where     string
	procs     []*process
	retention time.Duration
	offset    time.Duration // from the true time to that of the stores whose clock goes on by itself

	passes, killed, made int
}

// pass gives each process its order, all at once. Where a pass took longer than the step to the next one the clock is not
// set back.
func (r *run) pass(orders []order) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 5*time.Minute)
	defer cancel()
	type answer struct {
		i, made int
		killed  bool
		err     error
	}
	answers := make(chan answer, len(orders))
	if next := time.Until(orders[0].at); r.passes == 0 || next > r.offset {
		r.offset = next
	}
	for i, o := range orders {
		if r.procs[i] == nil {
			r.procs[i] = startProcess(r.t, r.where, r.retention)
		}
		go func() {
			made, killed, err := r.procs[i].obey(ctx, o, r.offset)
			answers <- answer{i, made, killed, err}
		}()
	}
	r.passes++
	for range orders {
		a := <-answers
		if a.err != nil {
			r.procs[a.i] = nil
			r.t.Error(a.err)
		}
		r.made += a.made
		if a.killed {
			r.procs[a.i] = nil
			r.killed++
		}
	}
	if r.t.Failed() {
		r.t.FailNow()
	}
}

func (r *run) close() {
	for i, p := range r.procs {
		if p != nil {
			p.close()
			r.procs[i] = nil
		}
	}
}
