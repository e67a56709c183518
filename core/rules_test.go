package core_test

import (
	"errors"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/rulestest"
)

// The table that HTTP and SQL are held against too.
func TestRules(t *testing.T) {
	now := time.Now()
	n := 0
	for _, c := range rulestest.Cases(now) {
		if c.Job == nil {
			continue
		}
		n++
		_, err := core.CheckNewJob(*c.Job, core.JobType{}, now)
		if c.Field == "" {
			if err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
			continue
		}
		var first *core.FieldError
		if !errors.As(err, &first) || first.Field != c.Field || first.Rule == "" {
			t.Errorf("%s: want %s at fault, got %v", c.Name, c.Field, err)
		}
	}
	if n < 120 {
		t.Errorf("%d rows", n)
	}
}
