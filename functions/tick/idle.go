package tick

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	wokenFor   = 10 * time.Second // minimum run of a woken tick: longer than the pause between two wakes of one process
	upkeepLate = time.Hour        // how long upkeep may wait for an invocation that finds work
	wholeEvery = 10 * time.Minute // maximum time between whole passes of an idle tick, and maximum age of the figures in StateMessage
	askTimeout = 20 * time.Second // for asking the store whether work is due, including the connection
)

// Memory is the state that a process keeps between invocations. The zero value is empty.
type Memory struct {
	mu     sync.Mutex
	asleep time.Time // no calls to the store before this
	upkeep time.Time // no upkeep before this
	state  latest    // record of the state
	kept   time.Time // when upkeep last began
	whole  time.Time // when the last invocation with whole passes began, if its last pass found nothing
}

// invocation holds what differs between one invocation and a tick that runs all the time.
type invocation struct {
	leaveIdle, leaveAfter time.Duration // see Options
	upkeep                time.Time     // none before this
	state                 *latest       // nil means none before
}

// AsleepMessage is the log message of an invocation that makes no calls to the store.
const AsleepMessage = "asleep"

// Skips reports whether a scheduled invocation has nothing to do, and logs that: in a minute with neither AsleepMessage nor
// StateMessage no tick ran. It has nothing to do if an earlier invocation found nothing due until later, or if the process
// made a whole pass recently and one statement finds nothing due before the next invocation.
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

// quiet asks the store whether there is work before the next invocation. If the store does not answer, a whole pass is made.
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

// Invoke is one invocation. It ticks until ctx ends, or until nothing is due if the settings let it end when idle. In
// economy mode it does only the work that is due now. woken says that the API or a worker woke it.
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

// next prepares the next invocation. Upkeep is most of the work of an idle invocation, so it waits up to an hour for an
// invocation that finds work.
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

// noteWhole remembers whether the invocation that began then ended because it found no work.
func (m *Memory) noteWhole(f *Function, began time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.whole = time.Time{}
	if f.ticker.DueIn() > 0 {
		m.whole = began.Round(0)
	}
}

// note remembers what whole passes found and until when nothing is due. It reports whether invocations before that skip the
// store.
func (m *Memory) note(f *Function, o Options, now time.Time) (asleep bool) {
	m.mu.Lock()
	if next := f.ticker.MaintainNext(); next != o.invocation.upkeep {
		m.upkeep, m.kept = next.Round(0), now.Round(0)
	}
	m.mu.Unlock()
	return m.rest(o, f.ticker.DueIn(), now)
}

// rest remembers until when invocations skip the store if work is due in dueIn: a minute less than dueIn, because invocations come
// once a minute. It reports whether that is a time ahead.
func (m *Memory) rest(o Options, dueIn time.Duration, now time.Time) (asleep bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asleep = time.Time{}
	rest := min(o.Settings.TickSleep, dueIn-time.Minute)
	if rest <= 0 {
		return false
	}
	m.asleep = now.Round(0).Add(rest) // by the wall clock: the monotonic clock stops while a function is frozen
	return true
}
