package scheduletest

import (
	"errors"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// A backfill ends at now: what is to come would be made twice, by the backfill and by the rule.
func TestBackfillOfWhatIsToCome(t *testing.T) {
	w := newWorld(t, noon)
	w.put("s", core.ScheduleRule{Cron: "0 * * * *"})
	for _, dry := range []bool{true, false} {
		done, err := w.acts.Backfill(t.Context(), "", "s", noon.Add(-2*time.Hour), noon.Add(2*time.Hour), dry)
		var fault *core.FieldError
		if !errors.As(err, &fault) || fault.Field != "to" || fault.Rule == "" || len(done.Made) != 0 {
			t.Errorf("dry %t: %+v %v", dry, done, err)
		}
		if done, err := w.acts.Backfill(t.Context(), "", "s", noon.Add(-2*time.Hour), noon, dry); err != nil || done.Count != 2 {
			t.Errorf("up to now, dry %t: %+v %v", dry, done, err)
		}
	}
}
