package tick

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	wokenFor   = 10 * time.Second // that a woken tick goes on at least: longer than whoever woke it waits before it wakes it again
	upkeepLate = time.Hour        // how long upkeep waits for an invocation that finds something to do
	wholeEvery = 10 * time.Minute // at least this often an idle tick makes a whole pass: the age of what StateMessage repeats
	askTimeout = 20 * time.Second // for asking the store whether something is due, connecting included
)

// Memory is what a process that is invoked again and again keeps between invocations. The zero value remembers nothing.
type Memory struct {
	mu     sync.Mutex
	asleep time.Time // invocations leave the store alone before this
	upkeep time.Time // no upkeep before this
	state  latest    // record of the state
	kept   time.Time // when upkeep last began
	whole  time.Time // when the last invocation began that made whole passes, if the last of these found nothing
}

// invocation is what one invocation differs in from a tick that runs all the time.
type invocation struct {
	leaveIdle, leaveAfter time.Duration // see Options
	upkeep                time.Time     // none before this
	state                 *latest       // nil means none before
}

// AsleepMessage is the message of the record of an invocation that leaves the store alone.
const AsleepMessage = "asleep"

// Skips reports whether an invocation that nobody woke has nothing to do, and records it: a minute without AsleepMessage
// and without StateMessage is one in which nobody ticked. The last one may have found nothing due until later; or one statement says that
// nothing is due before the next one, in a process that made a whole pass not long ago.
func (m *Memory) Skips(ctx context.Context, o Options, now time.Time) bool {
	return m.asleepAt(now, o.Log) || m.quiet(ctx, o, now)
}

func (m *Memory) asleepAt(now time.Time, log *slog.Logger) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	asleep := now.Round(0).Before(m.asleep)
	if asleep {
		log.Info(AsleepMessage, "until", m.asleep.UTC())
	}
	return asleep
}

// quiet asks the store whether there is something to do before the next invocation. Where it cannot say, a whole pass does.
func (m *Memory) quiet(ctx context.Context, o Options, now time.Time) bool {
	m.mu.Lock()
	warm := !m.whole.IsZero() && now.Round(0).Sub(m.whole).Abs() < wholeEvery
	m.mu.Unlock()
	last := m.state.last()
	if !warm || o.Stats != nil && last == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	in, err := o.Store.DueIn(ctx, core.DueRequest{Alerts: o.Alerts != nil, News: stateWindow + statePeriod})
	if err != nil || in <= o.Settings.TickIdle {
		return false
	}
	if o.Stats != nil {
		writeQuiet(o.Log, last)
	} else {
		o.Log.Info(AsleepMessage, "until", now.Add(o.Settings.TickIdle).UTC())
	}
	if m.rest(o, in, now) && o.Rest != nil {
		o.Rest(ctx)
	}
	return true
}

// Invoke is one invocation: it ticks until ctx's end, or until nothing is due where the settings let it end idle, or in
// economy mode does what there is to do now. Woken says that somebody has made something due.
func Invoke(ctx context.Context, o Options, m *Memory, woken bool) error {
	began := time.Now()
	o.invocation = m.next(o.Settings.TickIdle, woken, began)
	f, err := New(ctx, o)
	if err != nil {
		return err
	}
	if o.Settings.Economy {
		err = f.Pass(ctx)
		m.noteWhole(f, began)
		return err
	}
	types, cancel := context.WithCancel(ctx)
	var fresh sync.WaitGroup
	if o.Types != nil {
		fresh.Go(func() { o.Types.Run(types) })
	}
	err = f.Run(ctx)
	cancel()
	fresh.Wait()
	m.noteWhole(f, began)
	if asleep := m.note(f, o, time.Now()); asleep && o.Rest != nil {
		o.Rest(ctx)
	}
	return err
}

// next is what the next invocation is like. Upkeep, which is most of the work of one that finds nothing to do, is left to those
// that go on for a while, for up to an hour.
func (m *Memory) next(idle time.Duration, woken bool, now time.Time) invocation {
	if idle == 0 {
		return invocation{state: &m.state}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i := invocation{state: &m.state, leaveIdle: idle}
	if now.Round(0).Sub(m.kept) < upkeepLate {
		i.upkeep = now.Add(wokenFor)
		if m.upkeep.After(i.upkeep) {
			i.upkeep = m.upkeep
		}
	}
	if woken {
		i.leaveAfter = wokenFor
	}
	return i
}

// noteWhole remembers whether an invocation that began then ended because nothing was to do.
func (m *Memory) noteWhole(f *Function, began time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.whole = time.Time{}
	if f.ticker.DueIn() > 0 {
		m.whole = began.Round(0)
	}
}

// note remembers what whole passes found, and until when nothing is due. It reports whether the store is left alone until then.
func (m *Memory) note(f *Function, o Options, now time.Time) (asleep bool) {
	m.mu.Lock()
	if next := f.ticker.MaintainNext(); next != o.invocation.upkeep {
		m.upkeep, m.kept = next.Round(0), now.Round(0)
	}
	m.mu.Unlock()
	return m.rest(o, f.ticker.DueIn(), now)
}

// rest remembers until when the store is left alone, if something is due in so long: a minute less, in which the next
// invocation comes. It reports whether that is any time.
func (m *Memory) rest(o Options, dueIn time.Duration, now time.Time) (asleep bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asleep = time.Time{}
	rest := min(o.Settings.TickSleep, dueIn-time.Minute)
	if rest <= 0 {
		return false
	}
	m.asleep = now.Round(0).Add(rest) // by the wall clock: the other one stands still while a function is frozen
	return true
}
