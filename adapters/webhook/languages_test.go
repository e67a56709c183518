package webhook

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/receivertest"
)

// deliveries is the number of deliveries to the receiver in each language.
var deliveries = map[string]int{"go": 1_000, "python": 10_000, "node": 1_000}

const root = "../.."

// Receivers in other languages verify deliveries during a rotation of the secret, and refuse changed and old ones. A
// repeated delivery has the same id, and its work is done once.
func TestReceiversInOtherLanguagesVerify(t *testing.T) {
	old, fresh := secretOf(bytes.Repeat([]byte("o"), 24)), secretOf(bytes.Repeat([]byte("n"), 64))
	for language, count := range deliveries {
		t.Run(language, func(t *testing.T) {
			if testing.Short() {
				count = 300
			}
			withOld, withFresh := receivertest.Start(t, root, language, old), receivertest.Start(t, root, language, fresh)
			before, during, after := senderOf(t, old), senderOf(t, fresh, old), senderOf(t, fresh)

			deliverAll(t, before, withOld, 0, count/4)
			deliverAll(t, during, withOld, count/4, count/4)
			deliverAll(t, during, withFresh, 0, count/4)
			deliverAll(t, after, withFresh, count/4, count-3*(count/4))
			deliverAll(t, after, withFresh, 0, 20) // again, as after lost answers
			refuses(t, before, withFresh, "signed by the old secret alone")
			refuses(t, after, withOld, "signed by the new secret alone")
			for name, shift := range map[string]time.Duration{"six minutes old": -6 * time.Minute, "of six minutes ahead": 6 * time.Minute} {
				late := newWebhook(t, Options{Guard: loopback(t), Secrets: []string{fresh}, Now: func() time.Time { return time.Now().Add(shift) }})
				refuses(t, late, withFresh, name)
			}
			tampered(t, after, withFresh)
			if got, want := times(withOld.Stop())+times(withFresh.Stop()), count; got != want {
				t.Errorf("%d jobs were worked on, want %d", got, want)
			}
		})
	}
}

func times(jobs map[string]int) (n int) {
	for _, often := range jobs {
		n += often
	}
	return n
}

func senderOf(t *testing.T, secrets ...string) *Webhook {
	return newWebhook(t, Options{Guard: loopback(t), Secrets: secrets, PerHost: 4, PerWait: time.Minute})
}

func exampleJob(url string, id int) *core.Job {
	return &core.Job{
		ID: int64(id) + 1, Payload: fmt.Appendf(nil, `{"n": %d, "text":"é \u00e9 😀 </script>","big":12345678901234567890123}`, id),
		Attempts: 1, MaxAttempts: 5, LeaseToken: 1, Target: targetOf(url),
	}
}

// deliverAll delivers jobs first … first+count-1, and checks that each is done.
func deliverAll(t *testing.T, w *Webhook, to *receivertest.Receiver, first, count int) {
	t.Helper()
	var wait sync.WaitGroup
	for lane := range 4 {
		wait.Go(func() {
			for id := first + lane; id < first+count; id += 4 {
				if _, err := w.Work(t.Context(), exampleJob(to.URL, id)); err != nil {
					t.Errorf("job %d: %v", id, err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// refuses delivers one job that the receiver must answer with 401.
func refuses(t *testing.T, w *Webhook, to *receivertest.Receiver, what string) {
	t.Helper()
	_, err := w.Work(t.Context(), exampleJob(to.URL, 1_000_000))
	if !core.IsPermanent(err) || !strings.Contains(err.Error(), "401") {
		t.Errorf("%s: %v", what, err)
	}
}

// tampered sends deliveries with one part changed after signing.
func tampered(t *testing.T, w *Webhook, to *receivertest.Receiver) {
	t.Helper()
	job := exampleJob(to.URL, 2_000_000)
	for _, change := range []string{"payload", "webhook-id", "webhook-timestamp", "webhook-signature", "no webhook-signature"} {
		target, err := w.guard.parseTarget(job.Target)
		if err != nil {
			t.Fatal(err)
		}
		req, err := w.newRequest(t.Context(), target, job)
		if err != nil {
			t.Fatal(err)
		}
		switch name, remove := strings.CutPrefix(change, "no "); {
		case change == "payload":
			other, err := http.NewRequest(http.MethodPost, to.URL, strings.NewReader(strings.Replace(string(job.Payload), "2", "3", 1)))
			if err != nil {
				t.Fatal(err)
			}
			other.Header = req.Header
			req = other
		case remove:
			req.Header.Del(name)
		default:
			text := []byte(req.Header.Get(name))
			text[len(text)/2] ^= 1 // not at the end, where base64 has unused bits
			req.Header.Set(name, string(text))
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("changed %s: answered %d", change, resp.StatusCode)
		}
	}
}
