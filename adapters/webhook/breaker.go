package webhook

import "time"

// BreakerOptions say when a failing host is left alone, and for how long.
type BreakerOptions struct {
	Failures int           // failed attempts in a row after which a host is left alone; zero means 10
	Pause    time.Duration // until the first probe; it doubles with each probe that fails; zero means 5 s
	MaxPause time.Duration // the longest pause; zero means 5 min
}

func (o BreakerOptions) withDefaults() BreakerOptions {
	if o.Failures <= 0 {
		o.Failures = 10
	}
	if o.Pause <= 0 {
		o.Pause = 5 * time.Second
	}
	if o.MaxPause <= 0 {
		o.MaxPause = 5 * time.Minute
	}
	o.MaxPause = max(o.MaxPause, o.Pause)
	return o
}

// verdict is what one attempt tells of its host.
type verdict int8

const (
	unknown   verdict = iota // ended by us before the host could show anything
	healthy                  // the host answered, whatever it said of the job
	unhealthy                // no answer, or one that says not now
)

// breaker is the state of one host. Closed: attempts pass. Open, after Failures in a row: none passes until the
// pause is over. Then half open: one passes as a probe, and another where that takes long; its success closes the breaker, its failure opens it for
// twice as long. The zero breaker is closed.
type breaker struct {
	failures int           // in a row
	pause    time.Duration // of the present opening; zero while closed
	until    time.Time     // open: end of the pause; closed: the last failure
	probing  bool
	overdue  time.Time // of the probe: after this another may go; zero means never
}

// probePatience is how long others wait for a probe to end: a job may have hours for its answer.
const probePatience = time.Minute

// allow says whether an attempt may start at now, and whether it would be the probe; if not, how long until it is
// worth asking again.
func (b *breaker) allow(now time.Time) (probe, ok bool, wait time.Duration) {
	switch {
	case b.pause == 0:
		return false, true, 0
	case now.Before(b.until):
		return false, false, b.until.Sub(now)
	case b.probing && (b.overdue.IsZero() || now.Before(b.overdue)):
		return false, false, b.pause / 4
	}
	return true, true, 0
}

// end notes what an attempt told. Of attempts that had started before the breaker opened only good news counts: all
// of them failing must not lengthen the pause.
func (b *breaker) end(v verdict, probe bool, now time.Time, opts BreakerOptions) {
	if probe {
		b.probing, b.overdue = false, time.Time{}
	}
	switch v {
	case healthy:
		*b = breaker{probing: b.probing, overdue: b.overdue}
	case unhealthy:
		b.failures++
		switch {
		case b.pause == 0 && b.failures >= opts.Failures:
			b.open(opts.Pause, now)
		case b.pause == 0:
			b.until = now
		case probe:
			b.open(min(2*b.pause, opts.MaxPause), now)
		}
	}
}

func (b *breaker) open(pause time.Duration, now time.Time) {
	b.pause, b.until = pause, now.Add(pause)
}

// forgettable reports whether the state may be dropped: the host is well, or nothing was sent to it for so long
// that a fresh start is as good.
func (b *breaker) forgettable(now time.Time, opts BreakerOptions) bool {
	return b.failures == 0 || now.Sub(b.until) > opts.MaxPause
}
