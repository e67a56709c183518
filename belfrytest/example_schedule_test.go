package belfrytest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/belfrytest"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/handler"
)

// reportHandlers returns the handler under test.
func reportHandlers() *handler.Set {
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "report", func(_ context.Context, job *handler.Job[struct{}]) error {
		run, _ := job.Occurrence()
		fmt.Println("report for", run.ScheduledFor.Format("Mon 15:04"), "covers", run.Covers)
		return nil
	})
	return set
}

// monday is noon of a day before a change of the clock.
var monday = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func ExampleEngine_PutSchedule() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.NewWith(t, reportHandlers(), belfrytest.Options{Start: monday})
	e.PutSchedule("daily", core.ScheduleRule{Cron: "0 6 * * *", Type: "report", Missed: "once"})
	e.Advance(24 * time.Hour)
	e.Skip(72 * time.Hour) // nothing of Belfry works for three days
	e.Drain()
	// Output:
	// report for Tue 06:00 covers 1
	// report for Fri 06:00 covers 3
}

func ExampleEngine_Schedules() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.NewWith(t, reportHandlers(), belfrytest.Options{Start: monday})
	e.PutSchedule("daily", core.ScheduleRule{Cron: "0 6 * * *", Type: "report"})
	if _, err := e.Schedules().Pause(context.Background(), "", "daily"); err != nil {
		fmt.Println(err)
	}
	e.Advance(48 * time.Hour)
	fmt.Println("nothing was reported")
	// Output: nothing was reported
}

func ExampleEngine_Occurrences() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.NewWith(t, reportHandlers(), belfrytest.Options{Start: monday})
	e.PutSchedule("daily", core.ScheduleRule{Cron: "0 6 * * *", Type: "report", Missed: "skip"})
	e.Advance(24 * time.Hour)
	e.Skip(48 * time.Hour)
	e.Drain()
	for _, o := range e.Occurrences("daily") {
		fmt.Println(o.From.Format("Mon 15:04"), o.Count, o.Outcome)
	}
	// Output:
	// report for Tue 06:00 covers 1
	// Tue 06:00 1 fired
	// Wed 06:00 2 skipped
}

func ExampleEngine_RequireFired() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.NewWith(t, reportHandlers(), belfrytest.Options{Start: monday})
	e.PutSchedule("daily", core.ScheduleRule{Cron: "0 6 * * *", Type: "report"})
	e.Advance(24 * time.Hour)
	job := e.RequireFired("daily", time.Date(2026, 3, 3, 6, 0, 0, 0, time.UTC))
	fmt.Println(job.Status, job.StartedAt.Format("15:04"))
	// Output:
	// report for Tue 06:00 covers 1
	// done 06:00
}
