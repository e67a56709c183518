package webhook

import "time"

// BreakerOptions say when a failing host or endpoint is paused, and for how long.
type BreakerOptions struct {
	Failures int           // failures in a row before a pause; zero means 10
	Pause    time.Duration // time to the first probe; it doubles with each failed probe; zero means 5 s
	MaxPause time.Duration // maximum pause; zero means 5 min
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

// verdict is the result of one attempt for its host or its endpoint.
type verdict int8

const (
	unknown   verdict = iota // it ended too early for a result
	healthy                  // host: connected; endpoint: answered, even with an error
	unhealthy                // host: no connection; endpoint: no answer, or one that asks to wait
)

// breaker is the state of one host or endpoint. Closed: attempts pass. Open, after Failures in a row: no attempt passes
// until the pause is over. Half open: one attempt passes as a probe, and another if the probe takes long. A successful probe
// closes the breaker; a failed one opens it for twice as long. The zero breaker is closed.
type breaker struct {
	failures int           // in a row
	pause    time.Duration // current pause; zero while closed
	until    time.Time     // open: end of the pause; closed: the last failure
	probing  bool
	overdue  time.Time // time after which another probe may start; zero means never
	tried    int64     // the job whose probe failed last
	others   bool      // other jobs were refused since then: the next probe is for one of them
}

// probePatience is the time after which another probe may start: a job may wait minutes for its answer.
const probePatience = time.Minute

// admit reports whether an attempt of the job may start at now, and whether it would be the probe. If not, it returns how
// long to wait before asking again. The job whose probe failed last leaves the next probe to a job that was refused since,
// once. Otherwise a job that always fails could take every probe.
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

// begin records that a probe starts.
func (b *breaker) begin(now time.Time) { b.probing, b.overdue = true, now.Add(probePatience) }

// end records the result of an attempt. Of attempts that started before the breaker opened only successes count, because
// their failures must not lengthen the pause.
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

// forgettable reports whether the state may be dropped: there were no failures, or nothing was sent for so long that a fresh
// start is equivalent.
func (b *breaker) forgettable(now time.Time, opts BreakerOptions) bool {
	return b.failures == 0 || now.Sub(b.until) > opts.MaxPause
}
