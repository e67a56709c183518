package cloudruntest

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
)

// queued writes a job as the scheduler would have marked it, and returns it with its message.
func queued(t *testing.T, store *postgres.Store, job core.NewJob) (int64, core.Message) {
	t.Helper()
	job.MaxAttempts, job.Priority, job.Queued, job.QueuedLease = 5, core.Default, true, time.Hour
	answers, err := store.Submit(t.Context(), []core.NewJob{job})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := store.Get(t.Context(), answers[0].ID)
	if err != nil || kept.Status != core.Queued {
		t.Fatalf("the job is %s, %v", kept.Status, err)
	}
	return kept.ID, core.MessageOf(kept)
}

// envelope is what Pub/Sub pushes around a message.
func envelope(message []byte) []byte {
	text, err := json.Marshal(map[string]any{
		"message": map[string]any{
			"data": message, "messageId": "2070443601311540", "message_id": "2070443601311540",
			"publishTime": "2026-11-29T12:00:00.123Z", "publish_time": "2026-11-29T12:00:00.123Z",
		},
		"subscription": "projects/myproject/subscriptions/belfry-default", "deliveryAttempt": 1,
	})
	if err != nil {
		panic(err) // of strings and bytes
	}
	return text
}

// callerSettings say whom a function lets in.
func callerSettings(keys string) []string {
	return []string{"BELFRY_CALLER_AUDIENCE=" + Audience, "BELFRY_CALLER_ACCOUNT=" + Account, "BELFRY_CALLER_KEYS_URL=" + keys}
}

// TestPushTokens: with the right token a job runs, with any other nothing does; a new key is known with the first token
// that it has signed.
func TestPushTokens(t *testing.T) {
	for kind, run := range kinds {
		t.Run(kind, func(t *testing.T) {
			setting, store := database(t)
			issuer := NewIssuer(t)
			f := run(t, "worker", append(callerSettings(issuer.Serve(t)), setting)...)
			id, m := queued(t, store, core.NewJob{Type: "echo"})
			body := envelope(m.Encode())
			at := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
			stranger := NewIssuer(t).Key()
			stranger.KeyID = issuer.Key().KeyID
			for name, c := range map[string]struct {
				token string
				want  int
			}{
				"missing":           {"", 401},
				"no token":          {"a.b.c", 401},
				"another signature": {Sign(t, jose.RS256, stranger, Claims(nil)), 401},
				"signature removed": {strings.TrimRight(issuer.Token(t, nil), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") + "SIGNATURE_REMOVED_BY_GOOGLE", 401},
				"symmetric":         {Sign(t, jose.HS256, jose.JSONWebKey{Key: []byte(strings.Repeat("x", 32)), KeyID: issuer.Key().KeyID}, Claims(nil)), 401},
				"expired":           {issuer.Token(t, map[string]any{"exp": at(-time.Hour), "iat": at(-2 * time.Hour)}), 401},
				"not valid yet":     {issuer.Token(t, map[string]any{"iat": at(time.Hour), "exp": at(2 * time.Hour)}), 401},
				"foreign audience":  {issuer.Token(t, map[string]any{"aud": "https://other.example.com"}), 401},
				"another issuer":    {issuer.Token(t, map[string]any{"iss": "https://issuer.example.com"}), 401},
				"another account":   {issuer.Token(t, map[string]any{"email": "other@project.iam.gserviceaccount.com"}), 403},
			} {
				if got, err := f.post(t.Context(), "/push", c.token, body); err != nil || got != c.want {
					t.Errorf("%s: %d, want %d, %v", name, got, c.want, err)
				}
			}
			if job, err := store.Get(t.Context(), id); err != nil || job.Status != core.Queued || job.Attempts != 0 {
				t.Fatalf("before the right token: %s, %v", job.Status, err)
			}
			push(t, f, issuer.Token(t, nil), body, 204)
			ended(t, store, id, core.Done, 1)

			old := issuer.Token(t, nil)
			issuer.Rotate(t)
			id, m = queued(t, store, core.NewJob{Type: "echo"})
			await(t, "the new key is known", func() bool {
				got, err := f.post(t.Context(), "/push", issuer.Token(t, nil), envelope(m.Encode()))
				if err != nil || got != 204 && got != 401 {
					t.Fatal(got, err)
				}
				return got == 204
			})
			ended(t, store, id, core.Done, 1)
			push(t, f, old, body, 204) // its key is served still; the message is stale
			issuer.Retire()
			if strings.Contains(f.log.String(), old) || !strings.Contains(f.log.String(), `"severity":"WARNING"`) {
				t.Error("the log has a token, or no warning")
			}
		})
	}
}

// push posts a message and asserts the answer.
func push(t *testing.T, f *function, token string, body []byte, want int) {
	t.Helper()
	if got, err := f.post(t.Context(), "/push", token, body); err != nil || got != want {
		t.Errorf("%.300s: answered %d, want %d, %v", body, got, want, err)
	}
}

// ended asserts what became of a job.
func ended(t *testing.T, store *postgres.Store, id int64, status core.Status, attempts int) core.Job {
	t.Helper()
	job, err := store.Get(t.Context(), id)
	if err != nil || job.Status != status || job.Attempts != attempts {
		t.Errorf("job %d: %s after %d attempts, want %s after %d, %v", id, job.Status, job.Attempts, status, attempts, err)
	}
	return job
}

// TestPushMessages: all that has an end in its row is answered well, whatever the end; what no worker can read, and what
// could not be written, is not.
func TestPushMessages(t *testing.T) {
	setting, store := database(t)
	issuer := NewIssuer(t)
	f := start(t, "worker", append(callerSettings(issuer.Serve(t)), setting, "BELFRY_PUSH_DEADLINE=10s")...)
	token := issuer.Token(t, nil)
	send := func(m core.Message, want int) { t.Helper(); push(t, f, token, envelope(m.Encode()), want) }

	done, m := queued(t, store, core.NewJob{Type: "echo", Payload: json.RawMessage(`{"a":1}`)})
	send(m, 204)
	send(m, 204) // delivered again, as Pub/Sub may: it is stale
	ended(t, store, done, core.Done, 1)

	failing, m := queued(t, store, core.NewJob{Type: "fail", Payload: json.RawMessage(`{}`)})
	send(m, 204)
	panicking, m := queued(t, store, core.NewJob{Type: "fail", Payload: json.RawMessage(`{"panic":true}`)})
	send(m, 204)
	for id, kind := range map[int64]string{failing: core.KindError, panicking: core.KindPanic} {
		if job := ended(t, store, id, core.Scheduled, 1); len(job.Errors) != 1 || job.Errors[0].Kind != kind {
			t.Errorf("errors %+v, want a %s", job.Errors, kind)
		}
	}
	for _, text := range []string{`{"v":1,"id":`, `{"v":99,"id":"1","token":"0","priority":"default"}`, "hello", "\xff\x00", ""} {
		push(t, f, token, envelope([]byte(text)), 400)
	}
	push(t, f, token, []byte("<xml/>"), 400)
	push(t, f, token, envelope([]byte(strings.Repeat("x", 100_000))), 413)
	await(t, "the log tells of all that was not taken", func() bool {
		log := f.log.String()
		return strings.Count(log, `"message":"message not taken"`) == 7 && strings.Count(log, `"message_id":"2070443601311540"`) == 5
	})

	var late sync.WaitGroup
	late.Go(func() { // it may have nine tenths of the deadline, whatever it asks for
		long, m := queued(t, store, core.NewJob{Type: "sleep", Payload: json.RawMessage(`{"ms":3600000}`), Timeout: time.Hour})
		send(m, 204)
		if job := ended(t, store, long, core.Scheduled, 1); len(job.Errors) != 1 || job.Errors[0].Kind != core.KindTimeout {
			t.Errorf("errors %+v, want a timeout", job.Errors)
		}
	})
	conn, err := pgx.Connect(t.Context(), strings.TrimPrefix(setting, "BELFRY_DATABASE_URL="))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	locked, m := queued(t, store, core.NewJob{Type: "echo"})
	if _, err := tx.Exec(t.Context(), "SELECT FROM belfry.jobs WHERE id = $1 FOR UPDATE", locked); err != nil {
		t.Fatal(err)
	}
	send(m, 503)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	send(m, 204) // that is what Pub/Sub does then
	ended(t, store, locked, core.Done, 1)
	late.Wait()
}
