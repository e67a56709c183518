package api_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/functions/api"
)

// inner are the fields of a job that only the engine needs.
var inner = map[string]bool{
	"LeaseToken": true, "EndedToken": true, "ClaimID": true, "DispatchFence": true, "Dispatches": true, "Trace": true, "Bucket": true,
}

// Every field of a job is in its document, unless it is the engine's own: a new field of core.Job has to be put into one or
// the other.
func TestEveryFieldOfAJobIsInItsDocument(t *testing.T) {
	document := func(job core.Job) string {
		b := newBench(t, func(o *api.Options) { o.Jobs = oneJob{JobStore: o.Jobs, job: job} })
		return b.do("GET", "/v1/jobs/1", "").want(t, http.StatusOK).body
	}
	whole := fullJob()
	whole.Reason, whole.Unreadable = "expired", "lost"
	of := document(whole)
	other := reflect.ValueOf(core.Job{ID: 2, Priority: core.Critical, Status: core.Done, RunAt: at(30), CreatedAt: at(31)}) // what every job has
	walked := 0
	for field := range reflect.TypeFor[core.Job]().Fields() {
		job := whole
		reflect.ValueOf(&job).Elem().FieldByIndex(field.Index).Set(other.FieldByIndex(field.Index))
		if shown := document(job) != of; shown == inner[field.Name] {
			t.Errorf("%s: in the document: %v", field.Name, shown)
		}
		walked++
	}
	t.Logf("%d fields", walked)
}

// A job that nobody started in time is told from one that someone cancelled.
func TestWhyAJobIsCancelled(t *testing.T) {
	b := newBench(t)
	cancelled := b.do("POST", "/v1/jobs", `{"type":"a","delay":"1h"}`).want(t, http.StatusCreated)
	if body := b.do("POST", cancelled.header.Get("Location")+"/cancel", "").want(t, http.StatusOK).body; !strings.Contains(body, `"status":"cancelled","reason":"cancelled"`) {
		t.Errorf("cancelled: %s", body)
	}
	now, err := b.store.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	expires := now.Add(time.Minute).UTC().Format(time.RFC3339Nano)
	expired := b.do("POST", "/v1/jobs", `{"type":"a","expires_at":"`+expires+`"}`).want(t, http.StatusCreated)
	b.offset.Add(time.Hour.Microseconds())
	ticker, err := tick.New(b.store, tick.Options{Holder: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ticker.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	if body := b.do("GET", expired.header.Get("Location"), "").want(t, http.StatusOK).body; !strings.Contains(body, `"status":"cancelled","reason":"expired"`) {
		t.Errorf("expired: %s", body)
	}
}
