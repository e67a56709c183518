package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// report is what the check found.
type report struct {
	mu     sync.Mutex
	faults []string
	ends   map[string]int
	lags   []time.Duration
}

func (r *report) fault(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// check waits for every job's end and compares it with its line.
func (c *client) check(ctx context.Context, lines []line, progress func(int)) (*report, error) {
	r := &report{ends: map[string]int{}}
	ids := map[string]int{}
	for _, l := range lines {
		a := c.answers[l.N]
		if l.Kind == duplicate {
			first := c.answers[l.Of]
			if a.id != first.id || !a.duplicate || a.code != http.StatusOK {
				r.fault("line %d: duplicate of line %d (job %s) was answered %d with job %s, duplicate %t", l.N, l.Of, first.id, a.code, a.id, a.duplicate)
			}
			continue
		}
		if a.duplicate || (l.Single && a.code != http.StatusCreated) {
			r.fault("line %d: answered %d, duplicate %t; want 201", l.N, a.code, a.duplicate)
		}
		if other, taken := ids[a.id]; taken {
			r.fault("lines %d and %d were given one id %s", other, l.N, a.id)
		}
		ids[a.id] = l.N
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(c.callers)
	for _, l := range lines {
		if l.Kind == duplicate {
			progress(1)
			continue
		}
		g.Go(func() error {
			defer progress(1)
			return c.checkLine(ctx, l, r)
		})
	}
	return r, g.Wait()
}

func (c *client) checkLine(ctx context.Context, l line, r *report) error {
	a := c.answers[l.N]
	var j job
	for tries := 0; ; tries++ {
		if _, err := c.call(ctx, http.MethodGet, "/v1/jobs/"+a.id+"?wait=30s", nil, &j); err != nil {
			return fmt.Errorf("line %d: %w", l.N, err)
		}
		if j.Status == "done" || j.Status == "failed" || j.Status == "cancelled" {
			break
		}
		if tries == 6 {
			r.fault("line %d (%s): job %s is still %s after three minutes", l.N, l.Kind, a.id, j.Status)
			return nil
		}
	}
	var sent struct {
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(l.Job, &sent); err != nil {
		return err
	}
	if sent.Payload == nil {
		sent.Payload = json.RawMessage("{}")
	}
	if string(j.Payload) != string(sent.Payload) {
		r.fault("line %d: payload\n  sent %.200s\n  kept %.200s", l.N, sent.Payload, j.Payload)
	}
	ends, attempts := implied(l, a)
	if !slices.Contains(ends, j.Status) || !slices.Contains(attempts, j.Attempts) {
		r.fault("line %d (%s): job %s ended %s after %d attempts, want %v after %v", l.N, l.Kind, a.id, j.Status, j.Attempts, ends, attempts)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends[j.Status]++
	if j.Attempts == 1 && j.StartedAt != nil && j.Status == "done" {
		r.lags = append(r.lags, max(0, j.StartedAt.Sub(j.RunAt)))
	}
	return nil
}

// implied says how a line may end, and after how many attempts.
func implied(l line, a accepted) (ends []string, attempts []int) {
	switch l.Kind {
	case failsOnce:
		return []string{"done"}, []int{2}
	case fails:
		return []string{"failed"}, []int{1}
	case cancelEarly:
		return []string{"cancelled"}, []int{0}
	case cancelRunning:
		if a.cancel == http.StatusAccepted {
			return []string{"cancelled", "done"}, []int{1}
		}
	}
	return []string{"done"}, []int{1}
}

// quantile reads a quantile off the lags, which it sorts.
func quantile(lags []time.Duration, q float64) time.Duration {
	if len(lags) == 0 {
		return 0
	}
	slices.Sort(lags)
	return lags[int(q*float64(len(lags)-1))]
}
