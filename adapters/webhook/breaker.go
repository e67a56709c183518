package webhook

import "time"

// BreakerOptions say when a failing host or endpoint is left alone, and for how long.
type BreakerOptions struct {
	Failures int           // in a row after which it is left alone; zero means 10
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

// verdict is what one attempt tells of its host, or of its endpoint.
type verdict int8

const (
	unknown   verdict = iota // it ended before anything was shown
	healthy                  // of a host: it was connected to; of an endpoint: it answered, even with an error
	unhealthy                // of a host: no connection; of an endpoint: no answer, or one that says not now
)

// breaker is the state of one host or endpoint. Closed: attempts pass. Open, after Failures in a row: none passes until
// the pause is over. Then half open: one passes as a probe, and another if that takes long. A probe that succeeds
// closes the breaker, one that fails opens it for twice as long. The zero breaker is closed.
type breaker struct {
	failures int           // in a row
	pause    time.Duration // of the present opening; zero while closed
	until    time.Time     // open: end of the pause; closed: the last failure
	probing  bool
	overdue  time.Time // of the probe: after this another may go; zero means never
	tried    int64     // the job whose probe failed last
	others   bool      // other jobs were turned away since then: the next probe is for one of them
}

// probePatience is how long others wait for a probe to end: a job may have minutes for its answer.
const probePatience = time.Minute

// admit says whether an attempt of the job may start at now, and whether it would be the probe; if not, how long until
// it is worth asking again. The job whose probe failed last leaves the next one to a job that was turned away
// meanwhile, once: else a job that always fails could be every probe.
func (b *breaker) admit(job int64, now time.Time) (probe, ok bool, wait time.Duration) {
	switch {
	case b.pause == 0:
		return false, true, 0
	case now.Before(b.until):
		wait = b.until.Sub(now)
	case b.probing && (b.overdue.IsZero() || now.Before(b.overdue)):
		wait = b.pause / 4
	case b.others && job == b.tried:
		b.others = false
		return false, false, b.pause / 4
	default:
		return true, true, 0
	}
	b.others = b.others || job != b.tried
	return false, false, wait
}

// begin notes that a probe starts.
func (b *breaker) begin(now time.Time) { b.probing, b.overdue = true, now.Add(probePatience) }

// end notes what an attempt of the job told. Of attempts that had started before the breaker opened only good news
// counts: all of them failing must not lengthen the pause.
func (b *breaker) end(v verdict, probe bool, job int64, now time.Time, opts BreakerOptions) {
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
			b.open(opts.Pause, job, now)
		case b.pause == 0:
			b.until = now
		case probe:
			b.open(min(2*b.pause, opts.MaxPause), job, now)
		}
	}
}

func (b *breaker) open(pause time.Duration, job int64, now time.Time) {
	b.pause, b.until = pause, now.Add(pause)
	b.tried, b.others = job, false
}

// forgettable reports whether the state may be dropped: all is well, or nothing was sent for so long that a fresh start
// is as good.
func (b *breaker) forgettable(now time.Time, opts BreakerOptions) bool {
	return b.failures == 0 || now.Sub(b.until) > opts.MaxPause
}
