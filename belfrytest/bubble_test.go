package belfrytest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/belfrytest"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/handler"
)

// TestInABubble: an engine also works in a bubble of testing/synctest, in which handlers may sleep.
func TestInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := belfrytest.New(t, setOf(func(_ context.Context, job *handler.Job[note]) error {
			time.Sleep(3 * time.Second)
			return nil
		}))
		id := e.SubmitJob(core.NewJob{Type: "note", Delay: time.Hour}).ID
		e.Advance(time.Hour)
		e.WaitFor(id, core.Done)
	})
}
