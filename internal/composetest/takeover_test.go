package composetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	inFlight = 20     // jobs that sleep in handlers when their worker is killed
	sleepFor = 20_000 // milliseconds
)

// takeover kills the tick that has the leases and a worker that has jobs, at once, while others are submitted. All of
// them end done, and what it says is how long they waited.
func (p *project) takeover(t *testing.T) {
	hosts := map[string]string{} // services by the names of their hosts
	containers := map[string]string{}
	for _, service := range ours {
		hosts[p.inspect(t, service, "{{.Config.Hostname}}")], containers[service] = service, p.container(t, service)
	}
	serviceOf := func(instance string) string { // a process's name in rows begins with its host's
		host, _, _ := strings.Cut(instance, "-")
		if hosts[host] == "" {
			t.Fatalf("no service is %q", instance)
		}
		return hosts[host]
	}
	tick := serviceOf(p.query(t, "SELECT DISTINCT holder FROM belfry.scheduler_leases WHERE expires_at > now()"))
	stream := p.stream(t)
	stream.await(t, 10)
	sleepers := make([]string, inFlight)
	for i := range sleepers {
		sleepers[i] = p.submit(t, fmt.Sprintf(`{"type":"sleep","payload":{"ms":%d},"backoff":["0s"]}`, sleepFor)).ID
	}
	worker := ""
	eventually(t, "a worker runs some of them", func() bool {
		for _, id := range sleepers {
			if j := p.get(t, id); j.Status == "running" {
				worker = serviceOf(j.WorkerID)
				return true
			}
		}
		return false
	})
	docker(t, "kill", containers[worker], containers[tick])
	stream.await(t, 50)
	jobs := stream.end(t)
	killed := p.died(t, worker)
	if at := p.died(t, tick); at.After(killed) {
		killed = at
	}

	later, atOnce := silence(jobs[laterJob], killed), silence(jobs[atOnceJob], killed)
	again, back := 0, time.Duration(0)
	for _, id := range sleepers {
		j, err := p.done(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if j.Attempts > 1 {
			again, back = again+1, max(back, j.StartedAt.Sub(killed))
		}
	}
	for _, service := range []string{worker, tick} {
		if state := p.inspect(t, service, "{{.State.Status}}"); state != "exited" {
			t.Errorf("%s is %s: it should have been dead all the time", service, state)
		}
	}
	if again == 0 {
		t.Errorf("no job ran on the worker that was killed")
	}
	t.Logf("%s and %s killed while %d jobs were submitted: takeover in %s, the longest time in which no job ended that needs the tick (%s of those due at once); %d jobs that ran on the dead worker ran again after %s",
		worker, tick, len(jobs[laterJob])+len(jobs[atOnceJob]), later.Round(time.Millisecond), atOnce.Round(time.Millisecond), again, back.Round(time.Millisecond))
}

// died is when a service's container ended.
func (p *project) died(t *testing.T, service string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, p.inspect(t, service, "{{.State.FinishedAt}}"))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// silence is the longest time after a moment in which no job ended.
func silence(jobs []job, after time.Time) (gap time.Duration) {
	slices.SortFunc(jobs, func(a, b job) int { return a.FinishedAt.Compare(b.FinishedAt) })
	last := after
	for _, j := range jobs {
		if j.FinishedAt.After(after) {
			gap, last = max(gap, j.FinishedAt.Sub(last)), j.FinishedAt
		}
	}
	return gap
}

// The jobs of a stream, by turns: one that is due later and is handed out by the tick, and one that is due at once and
// is published by the API.
const (
	laterJob  = `{"type":"echo","payload":{"n":1},"backoff":["0s"],"delay":"100ms"}`
	atOnceJob = `{"type":"echo","payload":{"n":1},"backoff":["0s"]}`
)

// stream submits short jobs one after the other, many a second, and waits for each.
type stream struct {
	stop    context.CancelFunc
	workers sync.WaitGroup
	mu      sync.Mutex
	ended   map[string][]job // by what was submitted
	errs    []error
}

func (p *project) stream(t *testing.T) *stream {
	ctx, cancel := context.WithCancel(t.Context())
	s := &stream{stop: cancel, ended: map[string][]job{}}
	s.workers.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for body, next := laterJob, atOnceJob; ; body, next = next, body {
			s.workers.Go(func() { s.one(context.WithoutCancel(ctx), p, body) })
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	t.Cleanup(func() { cancel(); s.workers.Wait() })
	return s
}

// one submits a job and waits for its end.
func (s *stream) one(ctx context.Context, p *project, body string) {
	var j job
	_, err := p.call(ctx, "POST", "/v1/jobs", body, &j)
	if err == nil {
		j, err = p.done(ctx, j.ID)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.errs = append(s.errs, err)
		return
	}
	s.ended[body] = append(s.ended[body], j)
}

// await waits until so many more have ended that need the tick.
func (s *stream) await(t *testing.T, more int) {
	t.Helper()
	count := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.errs) > 0 {
			t.Fatal(s.errs[0])
		}
		return len(s.ended[laterJob])
	}
	until := count() + more
	eventually(t, "jobs end", func() bool { return count() >= until })
}

// end stops submitting and returns all jobs, each of which is done, by what was submitted.
func (s *stream) end(t *testing.T) map[string][]job {
	t.Helper()
	s.stop()
	s.workers.Wait()
	if len(s.errs) > 0 {
		t.Fatalf("%d failed, the first: %v", len(s.errs), s.errs[0])
	}
	return s.ended
}
