package webhooktest

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
