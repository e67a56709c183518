package api_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core/report"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// TestCallerThatHangsUp walks all operations of the served document with a caller that is gone before its answer: the log
// says so, and neither that the store cannot be reached nor that anything went wrong.
func TestCallerThatHangsUp(t *testing.T) {
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	submitter := submit.New(store, submit.Options{})
	t.Cleanup(func() { _ = submitter.Close(context.Background()) })
	running, lease := newBench(t).plant()
	var log bytes.Buffer
	b := newBench(t, func(o *api.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		o.Submitter, o.Jobs, o.Stats, o.Ledger, o.Access = submitter, store, store, store, store
		o.Types, o.Schedules = typecache.New(store, typecache.Options{}), schedule.NewActs(store, schedule.Options{}, nil)
		reporter := report.NewReporter(store, report.ReporterOptions{ID: "test"})
		t.Cleanup(func() { reporter.Close(context.Background()) })
		o.Attempts = reporter
	})
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	doc, left, walked := documentOf(t, b), 0, 0
	doc.each(func(method, path string, op *openOperation) {
		walked++
		m := &maker{bench: b, doc: doc, op: op, method: method, path: path, running: running, lease: lease}
		target := m.target("", "")
		switch op.OperationID {
		case "discard-dead-letters":
			target += "?all=true"
		case "get-job":
			target += "?wait=1s"
		}
		log.Reset()
		r := httptest.NewRequestWithContext(gone, method, target, strings.NewReader(m.body()))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		b.api.ServeHTTP(w, r)
		_, _ = io.Copy(io.Discard, w.Result().Body)
		if line := log.String(); strings.Contains(line, "level=ERROR") || strings.Contains(line, "level=WARN") || strings.Contains(line, "error=") || w.Code >= 500 {
			t.Errorf("%s: %d, %s", op.OperationID, w.Code, line)
		}
		if w.Code == 499 {
			left++
		}
	})
	if left < walked/2 {
		t.Errorf("of %d calls only %d noticed", walked, left)
	}
	t.Logf("%d operations, %d of which asked the store", walked, left)
}
