package deadletters

import (
	"fmt"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// Each reason for which a redrive leaves a dead letter is told apart.
func TestLeftReasons(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct {
		err   error
		other string
	}{
		{&core.ConflictError{Job: core.Job{Status: core.Done}}, ""},
		{&core.ConflictError{Other: 17}, "17"},
		{fmt.Errorf("%w: %w", core.ErrRow, core.ErrBusy), ""},
		{fmt.Errorf("redrive: %w", core.ErrRow), ""},
	} {
		reason, other := leftReason(c.err)
		if reason == "" || seen[reason] || other != c.other {
			t.Errorf("%v: %q, %q", c.err, reason, other)
		}
		seen[reason] = true
	}
}
