package webhook

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// A schedule's job is delivered with its due instants, not with its run_at.
func TestDeliverySaysWhatARunIsFor(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) })
	w := newWebhook(t, Options{Guard: loopback(t)})
	at := time.Date(2026, 3, 1, 6, 0, 0, 120_000_000, time.UTC)
	for i, c := range []struct {
		run  core.Run
		want [4]string
	}{
		{core.Run{Schedule: "s", ScheduledFor: at}, [4]string{"2026-03-01T06:00:00.12Z", "", "", ""}},
		{core.Run{Schedule: "s", ScheduledFor: at, CatchUp: true}, [4]string{"2026-03-01T06:00:00.12Z", "true", "", ""}},
		{core.Run{Schedule: "s", ScheduledFor: at, CatchUp: true, Covers: 3, CoversFrom: at.Add(-2 * time.Hour)}, [4]string{"2026-03-01T06:00:00.12Z", "true", "3", "2026-03-01T04:00:00.12Z"}},
	} {
		job := jobFor(r)
		job.Run = &c.run
		if _, err := w.Work(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		h := r.request(i).header
		if got := [4]string{h.Get("belfry-scheduled-for"), h.Get("belfry-catch-up"), h.Get("belfry-covers"), h.Get("belfry-covers-from")}; got != c.want {
			t.Errorf("%+v: %q, want %q", c.run, got, c.want)
		}
	}
}
