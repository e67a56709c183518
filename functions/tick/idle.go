package tick

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	wokenFor   = 10 * time.Second // that a woken tick goes on at least: longer than whoever woke it waits before it wakes it again
	upkeepLate = time.Hour        // how long upkeep waits for an invocation that finds something to do
)

// Memory is what a process that is invoked again and again keeps between invocations. The zero value remembers nothing.
type Memory struct {
	mu     sync.Mutex
	asleep time.Time // invocations leave the store alone before this
	upkeep time.Time // no upkeep before this
	state  latest    // record of the state
	kept   time.Time // when upkeep last began
}

// invocation is what one invocation differs in from a tick that runs all the time.
type invocation struct {
	leaveIdle, leaveAfter time.Duration // see core.TickerOptions
	upkeep                time.Time     // none before this
	state                 *latest       // nil means none before
}

// AsleepMessage is the message of the record of an invocation that leaves the store alone.
const AsleepMessage = "asleep"

// Asleep reports whether an invocation has nothing to do because the last one found nothing due until later, and records
// it: a minute without this record and without StateMessage is one in which nobody ticked.
func (m *Memory) Asleep(now time.Time, log *slog.Logger) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	asleep := now.Round(0).Before(m.asleep)
	if asleep {
		log.Info(AsleepMessage, "until", m.asleep.UTC())
	}
	return asleep
}

// Invoke is one invocation: it ticks until ctx's end, or until nothing is due where the settings let it end idle, or in
// economy mode does what there is to do now. Woken says that somebody has made something due.
func Invoke(ctx context.Context, o Options, m *Memory, woken bool) error {
	o.invocation = m.next(o.Settings.TickIdle, woken, time.Now())
	f, err := New(ctx, o)
	if err != nil {
		return err
	}
	if o.Settings.Economy {
		return f.Pass(ctx)
	}
	types, cancel := context.WithCancel(ctx)
	var fresh sync.WaitGroup
	if o.Types != nil {
		fresh.Go(func() { o.Types.Run(types) })
	}
	err = f.Run(ctx)
	cancel()
	fresh.Wait()
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

// note remembers until when nothing is due: a minute less than that, in which the next invocation comes. It reports whether
// the store is left alone until then.
func (m *Memory) note(f *Function, o Options, now time.Time) (asleep bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asleep = time.Time{}
	if next := f.ticker.MaintainNext(); next != o.invocation.upkeep {
		m.upkeep, m.kept = next.Round(0), now.Round(0)
	}
	rest := min(o.Settings.TickSleep, f.ticker.DueIn()-time.Minute)
	if rest <= 0 {
		return false
	}
	m.asleep = now.Round(0).Add(rest) // by the wall clock: the other one stands still while a function is frozen
	return true
}
