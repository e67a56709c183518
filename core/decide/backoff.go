package decide

import "time"

// DefaultBackoff is the wait after each attempt of a job that sets none. The last one repeats.
var DefaultBackoff = []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}

// MaxWait bounds every wait between attempts: back-off, Retry-After or snooze.
const MaxWait = 366 * 24 * time.Hour

// Jitter is the largest deviation of a back-off from its step, as a fraction, in both directions.
const Jitter = 0.1

// Backoff returns the wait after the given attempt (1 is the first): waits[attempt-1], or the last wait for later attempts.
// chance (0 … 1) moves it within ± Jitter; one half means exactly the step. Nil or empty waits mean DefaultBackoff. The
// result lies in [0, MaxWait], even if attempt or waits are negative.
func Backoff(waits []time.Duration, attempt int, chance float64) time.Duration {
	if len(waits) == 0 {
		waits = DefaultBackoff
	}
	step := boundWait(waits[min(max(attempt, 1), len(waits))-1])
	chance = min(max(chance, 0), 1)
	return boundWait(step + time.Duration(float64(step)*Jitter*(2*chance-1)))
}

// boundWait puts d into [0, MaxWait].
func boundWait(d time.Duration) time.Duration { return min(max(d, 0), MaxWait) }
