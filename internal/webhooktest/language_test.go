package webhooktest

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/host/node"
	"github.com/belfry-dev/belfry/internal/receivertest"
)

const root = "../.."

// large is how many deliveries the acceptance asks for; by default tests make fewer.
const large = 10_000

// Receivers that know nothing but their language's Standard Webhooks library verify all that the whole of Belfry
// delivers, through a rotation of the signing secret, restarts and a changed URL, and work on each job once.
func TestReceiversVerifyThroughARotation(t *testing.T) {
	count := 600
	if os.Getenv("BELFRY_TEST_LARGE") == "1" {
		count = large
	}
	for _, language := range []string{"python", "node"} {
		t.Run(language, func(t *testing.T) { rotate(t, language, count) })
	}
}

func rotate(t *testing.T, language string, count int) {
	old, fresh := secretOf("the-old-signing-key-of-32-bytes-"), secretOf("the-new-signing-key-of-32-bytes-")
	withOld, withFresh := receivertest.Start(t, root, language, old), receivertest.Start(t, root, language, fresh)
	l := layouts[0]
	open := opener(t, l)
	run := func(secrets ...string) *stage {
		return startOn(t, l, open, func(p *node.Parts) {
			p.Settings.WebhookSecrets, p.Settings.WebhookPerHost, p.Settings.Workers, p.Settings.StopGrace = secrets, 64, 64, 0
		})
	}
	began := time.Now()

	s := run(old)
	s.target(withOld.URL)
	s.submitBatches(count / 2)
	s.untilDone(count / 4)
	s.stop() // whatever is on its way is delivered again, under the same id

	s = run(fresh, old)
	s.submitBatches(count - count/2)
	s.untilDone(count / 2)
	s.target(withFresh.URL)
	s.untilDone(count * 3 / 4)
	s.stop()

	s = run(fresh)
	s.untilDone(count)
	t.Logf("%s: %d deliveries submitted, verified and recorded in %.1f s", language, count, time.Since(began).Seconds())
	refusals(s, withFresh)
	s.stop()
	skewed(t, l, open, fresh, withFresh)

	oldJobs, freshJobs := withOld.Stop(), withFresh.Stop()
	if len(oldJobs) == 0 || len(freshJobs) == 0 {
		t.Errorf("%d jobs with the old secret, %d with the new", len(oldJobs), len(freshJobs))
	}
	distinct := map[string]bool{}
	for _, jobs := range []map[string]int{oldJobs, freshJobs} {
		for id, often := range jobs {
			if distinct[id] = true; often != 1 {
				t.Errorf("one receiver worked on job %s %d times", id, often)
			}
		}
	}
	if len(distinct) != count+1 { // one more by refusals
		t.Errorf("%d different jobs were worked on, want %d", len(distinct), count+1)
	}
}

// target makes the type of these jobs go to a URL.
func (s *stage) target(url string) {
	s.t.Helper()
	if status, text := s.call("PUT", "/v1/types/rotation", fmt.Sprintf(`{"target":{"url":%q},"backoff":["1s"],"max_attempts":20}`, url), nil); status > 201 {
		s.t.Fatalf("%d %s", status, text)
	}
}

func (s *stage) submitBatches(n int) {
	s.t.Helper()
	const one = `{"type":"rotation","payload":{"text":"é \u00e9 😀 </script>","big":12345678901234567890123, "e":1e5}}`
	for ; n > 0; n -= 500 {
		s.must(http.StatusOK, "POST", "/v1/jobs/batch", `{"jobs":[`+one+strings.Repeat(","+one, min(n, 500)-1)+`]}`, nil)
	}
}

// untilDone waits until so many of the jobs are done, none having failed.
func (s *stage) untilDone(n int) {
	s.t.Helper()
	until(s.t, fmt.Sprintf("%d jobs are done", n), func() bool {
		stats, err := s.store.Stats(s.t.Context(), time.Hour)
		if err != nil {
			s.t.Fatal(err)
		}
		if stats.DeadLetters > 0 {
			s.t.Fatalf("%d jobs have failed", stats.DeadLetters)
		}
		live := 0
		for _, q := range stats.Queues {
			live += q.Scheduled + q.Queued + q.Running
		}
		var done int64
		for _, r := range stats.Totals {
			done += r.Done
		}
		// Counts may be lost with a node that was stopped at once, but no job: at the end none is left.
		return done >= int64(n) || live == 0
	})
}

// refusals takes a delivery on its way and sends it on: as it is, again, and changed.
func refusals(s *stage, to *receivertest.Receiver) {
	taken := make(chan *http.Request, 1)
	bodies := make(chan string, 1)
	catcher := listen(s.t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		taken <- r
		bodies <- string(body)
	})
	s.ended(s.submit(catcher, `,"payload":{"n":2}`).ID, "done")
	request, body := <-taken, <-bodies
	send := func(what string, want int, change func(h http.Header, body string) string) {
		s.t.Helper()
		h := request.Header.Clone()
		changed := change(h, body)
		req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, to.URL, strings.NewReader(changed))
		if err != nil {
			s.t.Fatal(err)
		}
		req.Header = h
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			s.t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			s.t.Errorf("%s: answered %d, want %d", what, resp.StatusCode, want)
		}
	}
	same := func(_ http.Header, body string) string { return body }
	send("as it is", http.StatusNoContent, same)
	send("a replay within the tolerance", http.StatusNoContent, same) // known by its id: no second work
	send("another payload", http.StatusUnauthorized, func(_ http.Header, body string) string { return strings.Replace(body, "2", "3", 1) })
	send("a space more", http.StatusUnauthorized, func(_ http.Header, body string) string { return body + " " })
	for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		send("changed "+name, http.StatusUnauthorized, func(h http.Header, body string) string {
			text := []byte(h.Get(name))
			text[len(text)/2] ^= 1
			h.Set(name, string(text))
			return body
		})
		send("without "+name, http.StatusUnauthorized, func(h http.Header, body string) string { h.Del(name); return body })
	}
}

// skewed delivers by clocks that are further off than receivers tolerate.
func skewed(t *testing.T, l layout, open func() core.Store, secret string, to *receivertest.Receiver) {
	for name, by := range map[string]time.Duration{"old": -6 * time.Minute, "of the future": 6 * time.Minute} {
		s := startOn(t, l, open, func(p *node.Parts) {
			p.Settings.WebhookSecrets = []string{secret}
			p.Webhooks.Now = func() time.Time { return time.Now().Add(by) }
		})
		got := s.ended(s.submit(to.URL, "").ID, "failed")
		if got.Attempts != 1 || !strings.Contains(got.Errors[0].Error, "401") {
			t.Errorf("a delivery that is %s: %+v", name, got)
		}
		s.stop()
	}
}
