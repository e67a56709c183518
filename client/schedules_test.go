package client_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

func TestSchedules(t *testing.T) {
	c := newClient(t, nodetest.Start(t, "all"), nil)
	const name = "nightly / 100% 😀"
	asked := client.NewSchedule{
		Rule: client.Rule{Cron: "30 2 * * *", TimeZone: "Europe/Berlin", DSTGap: "shift", DSTOverlap: "last", StartsAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), EndsAt: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)},
		Name: name, Missed: "all", MissedWindow: time.Hour, MissedLimit: 7, MissedGrace: time.Minute, Overlap: "queue_one", Jitter: time.Second,
		ExpiresAfter: 3 * time.Hour, ExpectWithin: 2 * time.Hour, ExpectPaused: true, Type: "report", Payload: json.RawMessage(`{"a":1.50}`), Priority: client.Bulk, MaxAttempts: 3,
		Timeout: 90 * time.Second, Backoff: []time.Duration{time.Second, time.Minute}, Tags: []string{"x"},
	}
	s, made, err := c.PutSchedule(t.Context(), asked, client.Condition{IfAbsent: true})
	if err != nil || !made || s.Version != 1 || s.NextDue.IsZero() || s.TZData == "" {
		t.Fatalf("%+v %t %v", s, made, err)
	}
	if !reflect.DeepEqual(s.NewSchedule, asked) {
		t.Errorf("kept  %+v\nasked %+v", s.NewSchedule, asked)
	}
	if again, made, err := c.PutSchedule(t.Context(), s.NewSchedule, client.Condition{}); err != nil || made || again.Version != 1 {
		t.Errorf("the same again: %+v %t %v", again, made, err)
	}
	if _, _, err := c.PutSchedule(t.Context(), asked, client.Condition{IfAbsent: true}); !errors.Is(err, client.ErrChanged) {
		t.Errorf("absent: %v", err)
	}
	if _, _, err := c.PutSchedule(t.Context(), asked, client.Condition{IfVersion: 9}); !errors.Is(err, client.ErrChanged) {
		t.Errorf("another version: %v", err)
	}
	bad := asked
	bad.Cron = "0 0 30 2 *"
	var fields client.FieldErrors
	if _, _, err := c.PutSchedule(t.Context(), bad, client.Condition{}); !errors.As(err, &fields) || fields[0].Field != "cron" {
		t.Errorf("bad: %v", err)
	}
	if s, err = c.PauseSchedule(t.Context(), "", name); err != nil || !s.Paused {
		t.Errorf("%+v %v", s, err)
	}
	if s, err = c.ResumeSchedule(t.Context(), "", name); err != nil || s.Paused || s.Version != 3 {
		t.Errorf("%+v %v", s, err)
	}
	job, err := c.TriggerSchedule(t.Context(), "", name)
	if err != nil || job.Schedule != name || job.ScheduledFor.IsZero() || job.Type != "report" {
		t.Fatalf("%+v %v", job, err)
	}
	for listed, err := range c.List(t.Context(), client.Filter{Schedule: name}) {
		if err != nil || listed.ID != job.ID {
			t.Errorf("%+v %v", listed, err)
		}
	}
	found := 0
	for one, err := range c.Schedules(t.Context(), client.ScheduleFilter{Type: "report"}) {
		if found++; err != nil || one.Name != name {
			t.Errorf("%+v %v", one, err)
		}
	}
	next, err := c.NextOccurrences(t.Context(), "", name, 3)
	if err != nil || len(next.Items) != 3 || !next.Items[0].At.Equal(s.NextDue) || found != 1 {
		t.Errorf("%+v %v, %d found", next, err, found)
	}
	p, err := c.PreviewSchedule(t.Context(), asked.Rule, time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC), 1)
	if err != nil || len(p.Items) != 1 || p.Items[0].At.Format(time.RFC3339) != "2026-03-29T03:30:00+02:00" || p.Items[0].DST != "gap" {
		t.Errorf("%+v %v", p, err)
	}
	b, err := c.BackfillSchedule(t.Context(), "", name, time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 4, 0, 0, 0, 0, time.UTC), false)
	if err != nil || b.Count != 3 || b.Made != 3 || len(b.JobIDs) != 3 {
		t.Errorf("%+v %v", b, err)
	}
	for row, err := range c.Occurrences(t.Context(), "", name, client.OccurrenceFilter{}) {
		t.Errorf("%+v %v: nothing was due yet", row, err)
	}
	for alert, err := range c.Alerts(t.Context(), client.AlertFilter{Open: true}) {
		t.Errorf("%+v %v: nothing is wrong", alert, err)
	}
	if err := c.DeleteSchedule(t.Context(), "", name, client.Condition{IfVersion: 1}); !errors.Is(err, client.ErrChanged) {
		t.Errorf("delete of another version: %v", err)
	}
	if err := c.DeleteSchedule(t.Context(), "", name, client.Condition{}); err != nil {
		t.Error(err)
	}
	if _, err := c.GetSchedule(t.Context(), "", name); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("after deletion: %v", err)
	}
}

// A name that a path cannot express is refused; it never becomes another schedule's name.
func TestNamesOfNoSchedule(t *testing.T) {
	c, ctx := newClient(t, nodetest.Start(t, "api"), nil), t.Context()
	for _, name := range []string{"-", "-.", "-.."} {
		if _, _, err := c.PutSchedule(ctx, client.NewSchedule{Name: name, Rule: client.Rule{Cron: "@daily"}, Type: "a"}, client.Condition{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"", ".", "..", "preview"} {
		_, _, put := c.PutSchedule(ctx, client.NewSchedule{Name: name, Rule: client.Rule{Cron: "@hourly"}, Type: "a"}, client.Condition{})
		_, got := c.GetSchedule(ctx, "", name)
		_, paused := c.PauseSchedule(ctx, "", name)
		_, next := c.NextOccurrences(ctx, "", name, 1)
		var ledger error
		for _, err := range c.Occurrences(ctx, "", name, client.OccurrenceFilter{}) {
			ledger = err
		}
		for i, err := range []error{put, got, paused, next, ledger, c.DeleteSchedule(ctx, "", name, client.Condition{})} {
			var fields client.FieldErrors
			if !errors.As(err, &fields) || fields[0].Field != "name" {
				t.Errorf("%q, call %d: %v", name, i, err)
			}
		}
	}
	for _, name := range []string{"-", "-.", "-.."} {
		if s, err := c.GetSchedule(ctx, "", name); err != nil || s.Cron != "@daily" || s.Paused {
			t.Errorf("%q: %+v %v", name, s, err)
		}
	}
}
