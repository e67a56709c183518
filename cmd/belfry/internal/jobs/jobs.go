// Package jobs is belfry jobs: submit, look at, wait for and change jobs.
package jobs

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core"
)

// Command are the commands about jobs.
func Command(a *console.App) *cobra.Command {
	return console.Group("jobs", "Submit, look at and change jobs", submitCommand(a), getCommand(a), listCommand(a), cancelCommand(a), retryCommand(a), rescheduleCommand(a), waitCommand(a))
}

func getCommand(a *console.App) *cobra.Command {
	return &cobra.Command{Use: "get ID...", Short: "Look at jobs", Args: console.Args(1, -1, "the ids of jobs"), RunE: func(c *cobra.Command, ids []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		printed := 0
		return a.Each(ids, func(id string) error {
			job, err := api.Get(c.Context(), id)
			if err != nil {
				return err
			}
			if printed++; printed > 1 && !a.JSON {
				fmt.Fprintln(a.Out)
			}
			a.PrintJob(job)
			return nil
		})
	}}
}

func listCommand(a *console.App) *cobra.Command {
	var f client.Filter
	var statuses []string
	var priority string
	var tenant console.TenantFilter
	limit := 50
	c := &cobra.Command{Use: "list", Short: "List jobs, newest first", Args: console.Args(0, 0, "no arguments: filters are flags")}
	flags := console.FlagsOf(c)
	flags.Words(&statuses, "status", "scheduled, queued, running, done, failed or cancelled; may stand more than once")
	flags.Text(&f.Type, "type", "of this type")
	tenant.Add(c)
	flags.Text(&priority, "priority", "critical, default or bulk")
	flags.Text(&f.Tag, "tag", "with this tag")
	flags.Text(&f.Schedule, "schedule", "made by the schedule of this name")
	flags.Instant(&f.RunAfter, "run-after", "due at this time or later")
	flags.Instant(&f.RunBefore, "run-before", "due before this time")
	flags.Count(&limit, "limit", 0, math.MaxInt, "at most this many; 0 means all")
	console.Words(c, "status", "scheduled", "queued", "running", "done", "failed", "cancelled")
	console.Words(c, "priority", "critical", "default", "bulk")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		for _, s := range statuses {
			f.Statuses = append(f.Statuses, client.Status(s))
		}
		f.Priority = client.Priority(priority)
		if f.Tenant, err = tenant.Filter(); err != nil {
			return err
		}
		f.PageSize = 1000
		if limit > 0 {
			f.PageSize = min(limit, 1000)
		}
		api, err := a.Client()
		if err != nil {
			return err
		}
		return a.PrintJobs(api.List(c.Context(), f), limit)
	}
	return c
}

func cancelCommand(a *console.App) *cobra.Command {
	var yes, dry bool
	c := &cobra.Command{Use: "cancel ID...", Short: "Cancel jobs", Args: console.Args(1, -1, "the ids of jobs"),
		Long: "Cancel jobs. One that waits is cancelled and never starts; one that runs is told to stop by its worker's next heartbeat."}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what would be cancelled")
	c.RunE = func(c *cobra.Command, ids []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		known, missing := ids, error(nil)
		if dry || !yes {
			live := 0
			if known, live, missing = liveOf(c.Context(), a, api, ids); len(known) == 0 && !dry {
				return missing
			}
			question := fmt.Sprintf("%s would be cancelled", console.Numbered(live, "job"))
			if dry {
				return a.FirstOf(c.Context(), a.PrintCount("would_cancel", live, question), missing)
			}
			if live > 0 {
				if err := a.Sure(false, question); err != nil {
					a.ReportAlso(c.Context(), missing)
					return err
				}
			}
		}
		err = a.Each(known, func(id string) error {
			job, err := api.Cancel(c.Context(), id)
			if err != nil {
				return err
			}
			what := "is cancelled"
			if job.CancelWanted {
				what = "runs; its worker is told to stop"
			}
			a.PrintChange(job, what)
			return nil
		})
		return a.FirstOf(c.Context(), missing, err)
	}
	return c
}

// liveOf reads jobs before they are cancelled. It returns the ids that could be read, how many of those jobs have not
// ended, and the first error; it reports the other errors itself.
func liveOf(ctx context.Context, a *console.App, api *client.Client, ids []string) (known []string, live int, err error) {
	err = a.Each(ids, func(id string) error {
		job, err := api.Get(ctx, id)
		if err != nil {
			return err
		}
		known = append(known, id)
		if !job.Status.Ended() {
			live++
		}
		return nil
	})
	return known, live, err
}

func retryCommand(a *console.App) *cobra.Command {
	return &cobra.Command{Use: "retry ID...", Short: "Retry failed jobs now, their attempts counted from 0", Args: console.Args(1, -1, "the ids of failed jobs"),
		RunE: func(c *cobra.Command, ids []string) error {
			api, err := a.Client()
			if err != nil {
				return err
			}
			return a.Each(ids, func(id string) error {
				job, err := api.Retry(c.Context(), id)
				if err == nil {
					a.PrintChange(job, "is scheduled again")
				}
				return err
			})
		}}
}

func rescheduleCommand(a *console.App) *cobra.Command {
	var at time.Time
	var delay time.Duration
	c := &cobra.Command{Use: "reschedule ID", Short: "Give a waiting job another time", Args: console.Args(1, 1, "the id of a job")}
	console.FlagsOf(c).Instant(&at, "run-at", "the time")
	console.FlagsOf(c).Length(&delay, "delay", 0, core.MaxDelay, "from now, such as 90s or 1h30m")
	c.RunE = func(c *cobra.Command, ids []string) error {
		if c.Flags().Changed("run-at") == c.Flags().Changed("delay") {
			return console.Usage("%s wants one of --run-at and --delay", c.CommandPath())
		}
		api, err := a.Client()
		if err != nil {
			return err
		}
		var job *client.Job
		if c.Flags().Changed("delay") {
			job, err = api.RescheduleIn(c.Context(), ids[0], delay)
		} else {
			job, err = api.Reschedule(c.Context(), ids[0], at)
		}
		if err == nil {
			a.PrintChange(job, "runs at "+console.JobTime(job, "run_at", job.RunAt))
		}
		return console.AboutJob(ids[0], err)
	}
	return c
}
