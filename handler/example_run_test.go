package handler_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/handler"
)

func ExampleJob_Occurrence() {
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "report.daily", func(ctx context.Context, job *handler.Job[struct{}]) error {
		run, ok := job.Occurrence()
		if !ok {
			return handler.Permanent(errors.New("not from a schedule"))
		}
		fmt.Println("report for", run.ScheduledFor.Format(time.DateOnly), "made up late:", run.CatchUp)
		fmt.Println("it covers", run.Covers, "from", run.CoversFrom.Format(time.DateOnly))
		return nil
	})
	day := time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)
	run(set, core.Job{Type: "report.daily", Run: &core.Run{Schedule: "daily", ScheduledFor: day}})
	run(set, core.Job{Type: "report.daily", Run: &core.Run{Schedule: "daily", ScheduledFor: day, CatchUp: true, Covers: 3, CoversFrom: day.AddDate(0, 0, -2)}})
	// Output:
	// report for 2026-03-01 made up late: false
	// it covers 1 from 2026-03-01
	// done
	// report for 2026-03-01 made up late: true
	// it covers 3 from 2026-02-27
	// done
}
