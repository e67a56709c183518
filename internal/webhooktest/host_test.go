package webhooktest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/functions/host/node"
)

// submitMany submits jobs to one target in one batch.
func (s *stage) submitMany(n int, target, more string) (ids []string) {
	s.t.Helper()
	one := fmt.Sprintf(`{"type":"hook","target":{"url":%q}%s}`, target, more)
	var answer struct{ Items []job }
	s.must(http.StatusOK, "POST", "/v1/jobs/batch", `{"jobs":[`+one+strings.Repeat(","+one, n-1)+`]}`, &answer)
	for _, item := range answer.Items {
		ids = append(ids, item.ID)
	}
	return ids
}

// deadHost: nobody listens at the target. At full speed the jobs would have failed for good within a moment: they have
// no back-off. They wait instead, jobs of other hosts run on, and all are done once somebody listens.
func deadHost(s *stage) {
	listener, err := new(net.ListenConfig).Listen(s.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	ids := s.submitMany(30, "http://"+address, `,"backoff":["0s"],"max_attempts":20`)
	until(s.t, "every job was held back", func() bool {
		for _, id := range ids {
			number, err := strconv.ParseInt(id, 10, 64)
			if err != nil {
				s.t.Fatal(err)
			}
			j, err := s.store.Get(s.t.Context(), number)
			if err != nil {
				s.t.Fatal(err)
			}
			if j.Snoozes == 0 {
				return false
			}
		}
		return true
	})
	alive := receive(s.t, status(http.StatusOK))
	for _, id := range s.submitMany(40, alive.URL, "") {
		s.ended(id, "done")
	}
	burnt := 0
	for _, id := range ids {
		j := s.get(id)
		if burnt += j.Attempts; j.Status == "failed" {
			s.t.Errorf("job %s has failed: %+v", id, j.Errors)
		}
	}
	s.t.Logf("%d jobs were charged %d attempts while their host was dead", len(ids), burnt)
	if n := strings.Count(s.log.String(), `msg="webhook host left alone" host=`+address); n != 1 {
		s.t.Errorf("logged %d times that the host is left alone", n)
	}
	until(s.t, "the host listens again: its port may be another's for a while", func() bool {
		listener, err = new(net.ListenConfig).Listen(s.t.Context(), "tcp", address)
		return err == nil
	})
	receiveAt(s.t, listener, status(http.StatusOK))
	for _, id := range ids {
		s.ended(id, "done")
	}
}

// slowHost: a target that does not answer. No more than its share of deliveries waits for it, jobs of other hosts run
// on, and all are done once it answers.
func slowHost(s *stage) {
	release := make(chan struct{})
	answer := sync.OnceFunc(func() { close(release) })
	defer answer()
	var inside, most atomic.Int64
	slow := receive(s.t, func(http.ResponseWriter, delivery) {
		if now := inside.Add(1); now > most.Load() {
			most.Store(now)
		}
		<-release
		inside.Add(-1)
	})
	ids := s.submitMany(40, slow.URL, "")
	until(s.t, "the slow host has its share", func() bool { return inside.Load() == 4 })
	quick := receive(s.t, status(http.StatusOK))
	for _, id := range s.submitMany(40, quick.URL, "") {
		s.ended(id, "done")
	}
	if done := len(slow.all()); done > 4 {
		s.t.Errorf("%d deliveries to the slow host began while it was full", done)
	}
	answer()
	for _, id := range ids {
		s.ended(id, "done")
	}
	if most.Load() > 4 {
		s.t.Errorf("%d deliveries at once", most.Load())
	}
}

// badURL: what a host answers at one URL, for one tenant or for one type holds back nothing else of that host.
func badURL(s *stage) {
	r := receive(s.t, func(w http.ResponseWriter, d delivery) {
		if d.path == "/bad" || d.body == `"bad"` {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	const retries = `,"backoff":["0s"],"max_attempts":100`
	for range 3 {
		s.submitMany(10, r.URL+"/bad", retries)
		s.submitMany(10, r.URL+"/good", `,"tenant":"bad","payload":"bad"`+retries)
		for _, more := range []string{"", `,"tenant":"polite"`} {
			s.ended(s.submitMany(1, r.URL+"/good", more)[0], "done")
		}
	}
	if !strings.Contains(s.log.String(), `msg="webhook endpoint left alone" host=`+strings.TrimPrefix(r.URL, "http://")) {
		s.t.Error("no endpoint was left alone: nothing was shown")
	}
	if strings.Contains(s.log.String(), `msg="webhook host left alone" host=`+strings.TrimPrefix(r.URL, "http://")) {
		s.t.Error("the host was left alone for what one URL answered")
	}
}

// TestSilentTargetsHoldNobodyUp: one tenant's jobs go to many hosts that never answer, and say that they may take a day.
// Jobs of other tenants are delivered meanwhile, handlers run, and the operator's bound ends the wait.
func TestSilentTargetsHoldNobodyUp(t *testing.T) {
	for _, l := range layouts[1:3] { // a queue on SQLite, and none on PostgreSQL
		t.Run(l.name, func(t *testing.T) {
			s := start(t, l, func(p *node.Parts) { p.Settings.WebhookAnswerTimeout = 5 * time.Second })
			quick := receive(t, status(http.StatusOK))
			var inside, most atomic.Int64
			gone := make(chan struct{})
			defer close(gone)
			var ids []string
			for range 20 {
				silent := listen(t, func(_ http.ResponseWriter, r *http.Request) {
					for now := inside.Add(1); ; {
						if before := most.Load(); now <= before || most.CompareAndSwap(before, now) {
							break
						}
					}
					defer inside.Add(-1)
					_, _ = io.Copy(io.Discard, r.Body) // the end of the connection is seen from here on
					select {
					case <-r.Context().Done():
					case <-gone:
					}
				})
				ids = append(ids, s.submitMany(10, silent, `,"tenant":"greedy","timeout":"24h","max_attempts":1`)...)
			}
			until(t, "the greedy tenant has all that it may have", func() bool { return inside.Load() >= 8 })
			until(t, "statistics say how many slots deliveries hold", func() bool {
				var stats struct {
					Slots struct {
						All, Busy     int
						ForDeliveries int `json:"for_deliveries"`
						Deliveries    int
					}
				}
				s.must(http.StatusOK, "GET", "/v1/stats", "", &stats)
				return stats.Slots.All == 16 && stats.Slots.ForDeliveries == 14 && stats.Slots.Deliveries >= 8 && stats.Slots.Busy >= stats.Slots.Deliveries
			})
			for range 5 {
				var own job
				s.must(http.StatusCreated, "POST", "/v1/jobs", `{"type":"echo","tenant":"polite"}`, &own)
				for _, id := range append(s.submitMany(2, quick.URL, `,"tenant":"polite"`), s.submitMany(1, quick.URL, "")[0], own.ID) {
					s.ended(id, "done")
				}
			}
			if inside.Load() == 0 {
				t.Error("no target was silent any more: nothing was shown")
			}
			if most.Load() > 13 { // nine tenths of the 14 slots that are for deliveries
				t.Errorf("%d of 16 slots were the greedy tenant's", most.Load())
			}
			if first := s.ended(ids[0], "failed"); !strings.Contains(first.Errors[0].Error, "timed out waiting for the answer") {
				t.Errorf("%+v", first)
			}
		})
	}
}
