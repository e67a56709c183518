package webhooktest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// scenarios run on every layout, side by side: each has receivers of its own.
var scenarios = map[string]func(s *stage){
	"what arrives, and what the answer leaves":                 delivered,
	"an answer that is no JSON leaves no result":               plainAnswer,
	"a permanent answer fails the job at once":                 permanentAnswer,
	"Retry-After goes before the back-off":                     retryAfter,
	"a redirect is a failed attempt":                           redirect,
	"a lost answer is delivered again under the same id":       lostAnswer,
	"complete before the 202 is recorded: done once":           completeFirst,
	"fail before the 202 is recorded: tried again once":        failFirst,
	"202, heartbeat, complete":                                 heartbeatThenComplete,
	"202, and cancel is wanted":                                cancelWanted,
	"202 and silence: timed out, tried again, old token stale": silence,
	"a changed URL holds for jobs that wait":                   changedURL,
	"a job waits until its type gets a target":                 laterTarget,
	"a job's own target goes before its type's":                ownTarget,
	"a dead host burns no attempts and holds nobody":           deadHost,
	"a slow host does not hold the workers":                    slowHost,
	"a bad URL of a host keeps no good one waiting":            badURL,
	"an answer that breaks off leaves a note":                  brokenAnswer,
	"a job says whose it is":                                   whoseItIs,
}

func TestWebhooks(t *testing.T) {
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			s := start(t, l)
			t.Run("scenario", func(t *testing.T) {
				for name, run := range scenarios {
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						run(&stage{t: t, url: s.url, store: s.store, log: s.log})
					})
				}
			})
			s.stop()
			// Whatever went wrong above, nothing that is secret is in the log.
			log := s.log.String()
			for _, canary := range []string{"canary", secret, "blt1_", "whsec_"} {
				if at := strings.Index(log, canary); at >= 0 {
					t.Errorf("the log says %s", log[max(at-200, 0):at+len(canary)])
				}
			}
		})
	}
}

func delivered(s *stage) {
	r := receive(s.t, func(w http.ResponseWriter, _ delivery) { _, _ = w.Write([]byte(`{"sent": 1e2}`)) })
	const payload = `{ "n" : 1e5, "canary":"canary-payload" }`
	var j job
	s.must(http.StatusCreated, "POST", "/v1/jobs", fmt.Sprintf(`{"type":"hook","payload":%s,"target":{"url":"%s/in?q=canary-query","headers":{"x-key":"canary-header"}}}`, payload, r.URL), &j)
	if got := s.ended(j.ID, "done"); string(got.Result) != `{"sent": 1e2}` || got.Attempts != 1 {
		s.t.Errorf("%+v", got)
	}
	d := r.next()
	if d.id != j.ID || d.body != payload || d.attempt != "1" || d.header.Get("X-Key") != "canary-header" || d.header.Get("Belfry-Max-Attempts") != "5" {
		s.t.Errorf("delivered %+v", d)
	}
}

func plainAnswer(s *stage) {
	r := receive(s.t, func(w http.ResponseWriter, _ delivery) { _, _ = w.Write([]byte("ok")) })
	if got := s.ended(s.submit(r.URL, "").ID, "done"); got.Result != nil {
		s.t.Errorf("result %s", got.Result)
	}
}

func brokenAnswer(s *stage) {
	r := receive(s.t, func(w http.ResponseWriter, _ delivery) {
		w.Header().Set("Content-Length", "99")
		_, _ = w.Write([]byte(`{"sent": `))
	})
	got := s.ended(s.submit(r.URL, "").ID, "done")
	if got.Result != nil || got.Attempts != 1 || len(got.Errors) != 1 || got.Errors[0].Kind != "result" || !strings.Contains(got.Errors[0].Error, "its result was lost") {
		s.t.Errorf("%+v", got)
	}
}

// whoseItIs: the headers say it, and the receiver verifies by the secret that they lead to.
func whoseItIs(s *stage) {
	r := receive(s.t, status(http.StatusOK))
	s.ended(s.submit(r.URL, `,"tenant":"Ärzte & Co"`).ID, "done")
	s.ended(s.submit(r.URL, "").ID, "done")
	s.must(http.StatusCreated, "PUT", "/v1/types/of.schedule", fmt.Sprintf(`{"target":{"url":%q}}`, r.URL), nil)
	s.must(http.StatusCreated, "PUT", "/v1/schedules/each%20day", `{"every":"24h","type":"of.schedule"}`, nil)
	var run job
	s.must(http.StatusCreated, "POST", "/v1/schedules/each%20day/trigger", "", &run)
	s.ended(run.ID, "done")
	var got [3][3]string
	for i := range got {
		h := r.next().header
		got[i] = [3]string{h.Get("Belfry-Tenant"), h.Get("Belfry-Type"), h.Get("Belfry-Schedule")}
	}
	if want := [3][3]string{{"%C3%84rzte%20&%20Co", "hook", ""}, {"", "hook", ""}, {"", "of.schedule", "each%20day"}}; got != want {
		s.t.Errorf("%q, want %q", got, want)
	}
}

func permanentAnswer(s *stage) {
	r := receive(s.t, func(w http.ResponseWriter, _ delivery) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = w.Write([]byte("canary-answer"))
	})
	got := s.ended(s.submit(r.URL, "").ID, "failed")
	if got.Attempts != 1 || len(got.Errors) != 1 || got.Errors[0].Kind != "permanent" || !strings.Contains(got.Errors[0].Error, "422") || strings.Contains(got.Errors[0].Error, "canary") {
		s.t.Errorf("%+v", got)
	}
}

// retryAfter: the back-off is longer than this test waits.
func retryAfter(s *stage) {
	r := receive(s.t, func(w http.ResponseWriter, d delivery) {
		if d.attempt == "1" {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	got := s.ended(s.submit(r.URL, `,"backoff":["24h"]`).ID, "done")
	if got.Attempts != 2 || len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Error, "503") {
		s.t.Errorf("%+v", got)
	}
}

func redirect(s *stage) {
	elsewhere := receive(s.t, status(http.StatusOK))
	r := receive(s.t, func(w http.ResponseWriter, _ delivery) {
		w.Header().Set("Location", elsewhere.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	got := s.ended(s.submit(r.URL, `,"max_attempts":1`).ID, "failed")
	if len(elsewhere.all()) != 0 || !strings.Contains(got.Errors[0].Error, "redirects are not followed") {
		s.t.Errorf("%d deliveries elsewhere; %+v", len(elsewhere.all()), got)
	}
}

func lostAnswer(s *stage) {
	r := receive(s.t, func(w http.ResponseWriter, d delivery) {
		if d.attempt == "1" {
			panic(http.ErrAbortHandler) // after the work: the connection breaks
		}
	})
	r.Config.ErrorLog = nil
	got := s.ended(s.submit(r.URL, `,"backoff":["0s"]`).ID, "done")
	all := r.all()
	if got.Attempts != 2 || len(all) != 2 || all[0].id != all[1].id || all[0].token == all[1].token || all[0].header.Get("Webhook-Id") != all[1].header.Get("Webhook-Id") || all[1].attempt != "2" {
		s.t.Errorf("%+v after %d deliveries", got, len(all))
	}
}

func changedURL(s *stage) {
	before, after := receive(s.t, status(http.StatusOK)), receive(s.t, status(http.StatusOK))
	const path = "/v1/types/changed%2Furl"
	s.must(http.StatusCreated, "PUT", path, fmt.Sprintf(`{"target":{"url":%q},"max_attempts":7}`, before.URL), nil)
	var waiting, first job
	s.must(http.StatusCreated, "POST", "/v1/jobs", `{"type":"changed/url","delay":"24h"}`, &waiting)
	if waiting.MaxAttempts != 7 {
		s.t.Errorf("the type's max_attempts are %d", waiting.MaxAttempts)
	}
	s.must(http.StatusCreated, "POST", "/v1/jobs", `{"type":"changed/url"}`, &first)
	s.ended(first.ID, "done")
	s.must(http.StatusOK, "PUT", path, fmt.Sprintf(`{"target":{"url":%q}}`, after.URL), nil)
	until(s.t, "workers know the new URL", func() bool {
		var probe job
		s.must(http.StatusCreated, "POST", "/v1/jobs", `{"type":"changed/url"}`, &probe)
		s.ended(probe.ID, "done")
		return len(after.all()) > 0
	})
	s.must(http.StatusOK, "POST", "/v1/jobs/"+waiting.ID+"/reschedule", `{"delay":"0s"}`, nil)
	s.ended(waiting.ID, "done")
	for _, d := range before.all() {
		if d.id == waiting.ID {
			s.t.Error("delivered to the old URL")
		}
	}
}

func laterTarget(s *stage) {
	r := receive(s.t, status(http.StatusOK))
	var j job
	s.must(http.StatusCreated, "POST", "/v1/jobs", `{"type":"later.target"}`, &j)
	s.must(http.StatusCreated, "PUT", "/v1/types/later.target", fmt.Sprintf(`{"target":{"url":%q}}`, r.URL), nil)
	s.ended(j.ID, "done")
	s.must(http.StatusNoContent, "DELETE", "/v1/types/later.target", "", nil)
}

func ownTarget(s *stage) {
	types, own := receive(s.t, status(http.StatusOK)), receive(s.t, status(http.StatusOK))
	s.must(http.StatusCreated, "PUT", "/v1/types/own.target", fmt.Sprintf(`{"target":{"url":%q}}`, types.URL), nil)
	var mine, plain job
	s.must(http.StatusCreated, "POST", "/v1/jobs", fmt.Sprintf(`{"type":"own.target","target":{"url":%q}}`, own.URL), &mine)
	s.must(http.StatusCreated, "POST", "/v1/jobs", `{"type":"own.target"}`, &plain)
	s.ended(mine.ID, "done")
	s.ended(plain.ID, "done")
	if a, b := own.all(), types.all(); len(a) != 1 || len(b) != 1 || a[0].id != mine.ID || b[0].id != plain.ID {
		s.t.Errorf("own %+v, type's %+v", a, b)
	}
}
