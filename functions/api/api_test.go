package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/adapters/webhook"
	"github.com/belfry-dev/belfry/core/report"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/functions/api"
)

// bench is an API on a real store in a fresh file.
type bench struct {
	t      testing.TB
	api    *api.API
	store  *sqlite.Store
	file   string        // the store's
	offset *atomic.Int64 // of the store's clock, in microseconds
	poked  []int64

	leases   *webhook.LeaseTokens
	reporter *report.Reporter
}

func newBench(t testing.TB, change ...func(*api.Options)) *bench {
	t.Helper()
	b := &bench{t: t, offset: new(atomic.Int64)}
	b.file = filepath.Join(t.TempDir(), "belfry.db")
	store, err := sqlite.Open(t.Context(), b.file, sqlite.Options{Offset: b.offset})
	if err != nil {
		t.Fatal(err)
	}
	b.store = store
	types := typecache.New(store, typecache.Options{})
	submitter := submit.New(store, submit.Options{Types: types})
	t.Cleanup(func() {
		if err := submitter.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	o := api.Options{Submitter: submitter, Jobs: store, Stats: store, Poke: func(id int64) { b.poked = append(b.poked, id) }}
	b.leases = newLeases(t)
	b.reporter = report.NewReporter(store, report.ReporterOptions{ID: "test"})
	t.Cleanup(func() { b.reporter.Close(context.Background()) })
	o.Types, o.Attempts, o.Leases, o.Access = types, b.reporter, b.leases, store
	o.Ledger, o.Schedules = store, schedule.NewActs(store, schedule.Options{}, nil)
	for _, f := range change {
		f(&o)
	}
	if b.api, err = api.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.api.Close)
	return b
}

// Writer is what came back.
type Writer struct {
	status int
	header http.Header
	body   string
}

// do sends a request whose body, if any, is JSON.
func (b *bench) do(method, target, body string, header ...string) Writer {
	b.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(b.t.Context(), method, target, reader)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.api.ServeHTTP(w, r)
	a := Writer{w.Code, w.Result().Header, w.Body.String()}
	checkAnswer(b.t, b.api, r, body, a)
	return a
}

// want stops the test at another status.
func (a Writer) want(t testing.TB, status int) Writer {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// job is the part of a job document that tests look at.
type job struct {
	ID          string          `json:"id"`
	Type        string          `json:"type"`
	Payload     json.RawMessage `json:"payload"`
	Status      string          `json:"status"`
	RunAt       string          `json:"run_at"`
	Tenant      string          `json:"tenant"`
	Attempts    int             `json:"attempts"`
	CancelWant  bool            `json:"cancel_wanted"`
	Duplicate   bool            `json:"duplicate"`
	MaxAttempts int             `json:"max_attempts"`
	Result      json.RawMessage `json:"result"`
	FinishedAt  string          `json:"finished_at"`
}

func decode[T any](t testing.TB, a Writer) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return v
}

// submit submits a job that must be accepted.
func (b *bench) submit(body string) job {
	b.t.Helper()
	return decode[job](b.t, b.do("POST", "/v1/jobs", body).want(b.t, http.StatusCreated))
}

func TestSubmitGetList(t *testing.T) {
	b := newBench(t)
	a := b.do("POST", "/v1/jobs", `{"type":"echo","payload":{"a":1},"tags":["x"]}`).want(t, http.StatusCreated)
	j := decode[job](t, a)
	if want := "/v1/jobs/" + j.ID; a.header.Get("Location") != want {
		t.Errorf("Location %q, want %q", a.header.Get("Location"), want)
	}
	got := b.do("GET", "/v1/jobs/"+j.ID, "").want(t, http.StatusOK)
	if got.body != a.body {
		t.Errorf("GET answers\n%s\nPOST answered\n%s", got.body, a.body)
	}
	list := b.do("GET", "/v1/jobs", "").want(t, http.StatusOK)
	if want := `{"items":[` + a.body + `],"next_cursor":""}`; list.body != want {
		t.Errorf("list\n%s\nwant\n%s", list.body, want)
	}
}
