package postgres_test

import (
	"encoding/json"
	"testing"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
)

// A schedule whose counts were damaged to be the greatest numbers there are is replaced, paused and triggered like any other.
func TestScheduleWithCountsAtTheirEnd(t *testing.T) {
	address := migrated(t)
	acts := schedule.NewActs(open(t, address), schedule.Options{}, nil)
	put := func(cron string) (core.Schedule, bool) {
		t.Helper()
		var rule core.ScheduleRule
		if err := json.Unmarshal([]byte(`{"cron":"`+cron+`","type":"a"}`), &rule); err != nil {
			t.Fatal(err)
		}
		s, made, err := acts.Put(t.Context(), "", "s", rule, schedule.Match{})
		if err != nil {
			t.Error(err)
		}
		return s, made
	}
	put("0 * * * *")
	script(t, connect(t, address), "UPDATE belfry.schedules SET moves = 9223372036854775807, version = 9223372036854775807")
	if s, made := put("30 * * * *"); made || s.Version != 1 || s.Rule.Cron != "30 * * * *" {
		t.Errorf("made: %t, %+v", made, s)
	}
	if _, err := acts.Trigger(t.Context(), "", "s"); err != nil {
		t.Error(err)
	}
	if s, err := acts.Pause(t.Context(), "", "s"); err != nil || s.Version != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}
