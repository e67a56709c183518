package webhooktest

import (
	"net/http"
	"strings"
	"time"
)

// extended answers a heartbeat.
type extended struct {
	LeaseUntil   time.Time `json:"lease_until"`
	CancelWanted bool      `json:"cancel_wanted"`
}

// ending answers complete and fail.
type ending struct{ Status string }

func completeFirst(s *stage) {
	r := receive(s.t, func(w http.ResponseWriter, d delivery) {
		var e ending
		if s.report(http.StatusOK, d.id, "complete", d.token, `,"result":{"by":"target"}`, &e); e.Status != "done" {
			s.t.Errorf("complete answered %q", e.Status)
		}
		w.WriteHeader(http.StatusAccepted)
	})
	got := s.ended(s.submit(r.URL, `,"backoff":["0s"]`).ID, "done")
	first := r.next()
	// Time for a second delivery, if there were one: another job of the same host goes and comes back.
	s.ended(s.submit(r.URL, "").ID, "done")
	if n := deliveriesOf(r, got.ID); n != 1 || string(got.Result) != `{"by":"target"}` || got.Attempts != 1 {
		s.t.Errorf("%d deliveries, %+v", n, got)
	}
	var e ending
	if s.report(http.StatusOK, first.id, "complete", first.token, `,"result":{"by":"target"}`, &e); e.Status != "done" {
		s.t.Errorf("a repeat of complete answered %q", e.Status)
	}
}

func failFirst(s *stage) {
	r := receive(s.t, func(w http.ResponseWriter, d delivery) {
		if d.attempt == "1" {
			var e ending
			if s.report(http.StatusOK, d.id, "fail", d.token, `,"error":"no stock","retry_after":"1s"`, &e); e.Status != "scheduled" {
				s.t.Errorf("fail answered %q", e.Status)
			}
			w.WriteHeader(http.StatusAccepted)
		}
	})
	got := s.ended(s.submit(r.URL, `,"backoff":["24h"]`).ID, "done")
	if n := deliveriesOf(r, got.ID); n != 2 || got.Attempts != 2 || len(got.Errors) != 1 || got.Errors[0].Error != "no stock" {
		s.t.Errorf("%d deliveries, %+v", n, got)
	}
}

func deliveriesOf(r *receiver, id string) (n int) {
	for _, d := range r.all() {
		if d.id == id {
			n++
		}
	}
	return n
}

// accepted submits a job whose target answers 202, and waits until that is recorded.
func (s *stage) accepted(more string) (*receiver, delivery) {
	s.t.Helper()
	r := receive(s.t, status(http.StatusAccepted))
	j := s.submit(r.URL, more)
	d := r.next()
	until(s.t, "the answer is recorded", func() bool { return s.get(j.ID).WorkerID == "target" })
	return r, d
}

func heartbeatThenComplete(s *stage) {
	r, d := s.accepted(`,"timeout":"10m"`)
	before := s.get(d.id)
	until(s.t, "the heartbeat extends the lease", func() bool {
		var e extended
		s.report(http.StatusOK, d.id, "heartbeat", d.token, "", &e)
		return e.LeaseUntil.After(before.LeaseUntil) && !e.CancelWanted
	})
	if now := s.get(d.id); now.Status != "running" || !now.LeaseUntil.After(before.LeaseUntil) {
		s.t.Errorf("%+v, before it %+v", now, before)
	}
	s.report(http.StatusOK, d.id, "complete", d.token, `,"result":[1]`, nil)
	if got := s.ended(d.id, "done"); string(got.Result) != `[1]` || got.Attempts != 1 || deliveriesOf(r, d.id) != 1 {
		s.t.Errorf("%+v after %d deliveries", got, deliveriesOf(r, d.id))
	}
	s.report(http.StatusConflict, d.id, "heartbeat", d.token, "", nil)
}

func cancelWanted(s *stage) {
	_, d := s.accepted(`,"timeout":"10m"`)
	s.must(http.StatusAccepted, "POST", "/v1/jobs/"+d.id+"/cancel", "{}", nil)
	var e extended
	if s.report(http.StatusOK, d.id, "heartbeat", d.token, "", &e); !e.CancelWanted {
		s.t.Error("the heartbeat does not tell that cancel is wanted")
	}
	s.report(http.StatusOK, d.id, "fail", d.token, `,"error":"stopped as asked"`, nil)
	s.ended(d.id, "cancelled")
}

func silence(s *stage) {
	r := receive(s.t, status(http.StatusAccepted))
	j := s.submit(r.URL, `,"timeout":"2s","backoff":["0s"],"max_attempts":50`)
	first := r.next()
	var second delivery
	for second = r.next(); second.id != first.id || second.token == first.token; {
		second = r.next()
	}
	for act, more := range map[string]string{"heartbeat": "", "complete": `,"result":"late"`} {
		s.report(http.StatusConflict, first.id, act, first.token, more, nil)
	}
	// The newest attempt completes; under load it may have been lost meanwhile too.
	until(s.t, "an attempt completes in time", func() bool {
		all := r.all()
		status, _ := s.call("POST", "/v1/jobs/"+j.ID+"/complete", `{"lease_token":"`+all[len(all)-1].token+`","result":"in time"}`, nil)
		return status == http.StatusOK
	})
	got := s.ended(j.ID, "done")
	if string(got.Result) != `"in time"` || got.Attempts < 2 || got.Errors[0].Kind != "timeout" || !strings.Contains(got.Errors[0].Error, "the target accepted the job and did not report its end") {
		s.t.Errorf("%+v", got)
	}
}
