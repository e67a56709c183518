package webhook

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/decide"
)

// However a delivery ends, no error and no log line contains a secret, a payload, a header, a target's path or query, or a
// target's answer.
func TestNothingTellsSecrets(t *testing.T) {
	var logged bytes.Buffer
	before, flags := log.Writer(), log.Flags()
	standard := slog.Default()
	log.SetOutput(&logged)
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() {
		slog.SetDefault(standard)
		log.SetOutput(before)
		log.SetFlags(flags)
	})
	key := []byte("canary canary canary canary canary")
	ways := map[string]func(http.ResponseWriter){"": func(http.ResponseWriter) { panic(http.ErrAbortHandler) }}
	for _, code := range []int{101, 200, 202, 302, 400, 429, 500, 999} {
		ways[fmt.Sprint(code)] = func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://canary/canary")
			w.Header().Set("Retry-After", "canary")
			w.WriteHeader(code)
			fmt.Fprint(w, "canary")
		}
	}
	for way, handle := range ways {
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { handle(w) })
		w := newWebhook(t, Options{Guard: loopback(t), Secrets: []string{secretOf(key)}, LeaseKeys: [][]byte{key}, Breaker: BreakerOptions{Failures: 1}})
		for _, raw := range []string{r.URL + "/canary?token=canary", "http://canary:canary@hooks.example.com/", "http://10.0.0.1/canary?canary", "http://127.0.0.1:1/canary"} {
			target, err := json.Marshal(map[string]any{"url": raw, "headers": map[string]string{"Authorization": "Bearer canary"}})
			if err != nil {
				t.Fatal(err)
			}
			job := &core.Job{ID: 1, Payload: []byte(`{"password":"canary"}`), Target: target, Attempts: 1, MaxAttempts: 5}
			for range 2 { // the breaker refuses the second
				_, err := w.Work(t.Context(), job)
				text := fmt.Sprintf("%v %+v %#v", err, err, decide.End(job, decide.Ran{Err: err}, time.Time{}, 0))
				for _, secret := range []string{"canary", base64.StdEncoding.EncodeToString(key)[:12]} {
					if strings.Contains(text, secret) {
						t.Errorf("%s %s: %s", way, raw, text)
					}
				}
			}
		}
	}
	for _, headers := range []string{`{"webhook-id":"canary"}`, `{"x":"canary\u0001"}`, `{"x\ncanary":"canary"}`, `"canary"`} {
		w := newWebhook(t, Options{Guard: loopback(t)})
		if err := w.guard.CheckTarget(json.RawMessage(`{"url":"http://h.example/","headers":` + headers + `}`)); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("headers %s: %v", headers, err)
		}
	}
	if strings.Contains(logged.String(), "canary") {
		t.Errorf("logged: %s", logged.String())
	}
}
