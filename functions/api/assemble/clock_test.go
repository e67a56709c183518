package assemble

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/functions/boot"
)

// Times are judged by the store's clock, however far this process's is from it: run_at, expires_at, and the end of a token.
func TestTimesAreJudgedByTheStore(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"the store is ahead": 3 * time.Hour, "the store is behind": -3 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			clock := func() time.Time { return time.Now().Add(ahead) }
			store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{Clock: clock})
			if err != nil {
				t.Fatal(err)
			}
			service, err := New(Parts{Settings: boot.Settings{}, Store: store, Types: typecache.New(store, typecache.Options{}), Webhooks: new(boot.Webhooks), Closed: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				service.Close()
				if err := service.Finish(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			})
			call := func(method, path, body, token string) (int, string) {
				r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
				r.Host = "localhost"
				if r.Header.Set("Content-Type", "application/json"); token != "" {
					r.Header.Set("Authorization", "Bearer "+token)
				}
				answer := httptest.NewRecorder()
				service.ServeHTTP(answer, r)
				return answer.Code, answer.Body.String()
			}
			at := func(d time.Duration) string { return clock().Add(d).UTC().Format(time.RFC3339Nano) }
			token := func(end time.Duration) string {
				key, id, hash, err := core.NewToken(rand.Reader)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := store.CreateToken(t.Context(), core.Token{ID: id, Hash: hash, Name: "t", Role: core.RoleAdmin, ExpiresAt: clock().Add(end)}); err != nil {
					t.Fatal(err)
				}
				return key
			}
			admin := token(time.Hour)
			for _, c := range []struct {
				body   string
				status int
			}{
				{fmt.Sprintf(`{"type":"a","expires_at":%q}`, at(time.Hour)), 201},
				{fmt.Sprintf(`{"type":"a","expires_at":%q}`, at(-time.Hour)), 422},
				{fmt.Sprintf(`{"type":"a","delay":"1h","expires_at":%q}`, at(90*time.Minute)), 201},
				{fmt.Sprintf(`{"type":"a","delay":"2h","expires_at":%q}`, at(90*time.Minute)), 422},
				{fmt.Sprintf(`{"type":"a","run_at":%q}`, at(-10*365*24*time.Hour+time.Hour)), 201},
				{fmt.Sprintf(`{"type":"a","run_at":%q}`, at(100*365*24*time.Hour+25*24*time.Hour)), 422},
			} {
				if status, said := call("POST", "/v1/jobs", c.body, admin); status != c.status {
					t.Errorf("%s: %d %s", c.body, status, said)
				}
				if status, said := call("POST", "/v1/jobs/batch", `{"jobs":[`+c.body+`]}`, admin); status != 200 || strings.Contains(said, `"error"`) != (c.status == 422) {
					t.Errorf("%s in a batch: %d %s", c.body, status, said)
				}
			}
			for _, end := range []time.Duration{time.Hour, -time.Hour} {
				key := token(end)
				want := map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[end > 0]
				if status, said := call("GET", "/v1/jobs", "", key); status != want {
					t.Errorf("a token that ends in %s: %d %s", end, status, said)
				}
			}
		})
	}
}
