package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/core"
)

func (a *app) getCommand() *cobra.Command {
	return &cobra.Command{Use: "get ID...", Short: "Look at jobs", Args: counted(1, -1, "the ids of jobs"), RunE: func(c *cobra.Command, ids []string) error {
		api, err := a.client()
		if err != nil {
			return err
		}
		printed := 0
		return a.each(ids, func(id string) error {
			job, err := api.Get(c.Context(), id)
			if err != nil {
				return err
			}
			if printed++; printed > 1 && !a.json {
				fmt.Fprintln(a.out)
			}
			a.printJob(job)
			return nil
		})
	}}
}

func (a *app) listCommand() *cobra.Command {
	var f client.Filter
	var statuses []string
	var priority string
	var tenant tenantFilter
	limit := 50
	c := &cobra.Command{Use: "list", Short: "List jobs, newest first", Args: counted(0, 0, "no arguments: filters are flags")}
	flags := flagsOf(c)
	flags.words(&statuses, "status", "scheduled, queued, running, done, failed or cancelled; may stand more than once")
	flags.text(&f.Type, "type", "of this type")
	tenant.add(c)
	flags.text(&priority, "priority", "critical, default or bulk")
	flags.text(&f.Tag, "tag", "with this tag")
	flags.text(&f.Schedule, "schedule", "made by the schedule of this name")
	flags.instant(&f.RunAfter, "run-after", "due at this time or later")
	flags.instant(&f.RunBefore, "run-before", "due before this time")
	flags.count(&limit, "limit", 0, math.MaxInt, "at most this many; 0 means all")
	words(c, "status", "scheduled", "queued", "running", "done", "failed", "cancelled")
	words(c, "priority", "critical", "default", "bulk")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		for _, s := range statuses {
			f.Statuses = append(f.Statuses, client.Status(s))
		}
		f.Priority = client.Priority(priority)
		if f.Tenant, err = tenant.filter(); err != nil {
			return err
		}
		f.PageSize = 1000
		if limit > 0 {
			f.PageSize = min(limit, 1000)
		}
		api, err := a.client()
		if err != nil {
			return err
		}
		return a.printJobs(api.List(c.Context(), f), limit)
	}
	return c
}

// printJobs writes up to limit jobs of a list (0: all).
func (a *app) printJobs(list iter.Seq2[*client.Job, error], limit int) error {
	return listing[*client.Job]{columns: jobColumns, row: jobRow, document: (*client.Job).Document, none: "no jobs"}.show(a, list, limit)
}

func (a *app) cancelCommand() *cobra.Command {
	var yes, dry bool
	c := &cobra.Command{Use: "cancel ID...", Short: "Cancel jobs", Args: counted(1, -1, "the ids of jobs"),
		Long: "Cancel jobs. One that waits is cancelled and never starts; one that runs is told to stop by its worker's next heartbeat."}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what would be cancelled")
	c.RunE = func(c *cobra.Command, ids []string) error {
		api, err := a.client()
		if err != nil {
			return err
		}
		known, missing := ids, error(nil)
		if dry || !yes {
			live := 0
			if known, live, missing = a.liveOf(c.Context(), api, ids); len(known) == 0 && !dry {
				return missing
			}
			question := fmt.Sprintf("%s would be cancelled", jobs(live))
			if dry {
				return a.firstOf(c.Context(), a.counted("would_cancel", live, question), missing)
			}
			if live > 0 {
				if err := a.sure(false, question); err != nil {
					a.reportAlso(c.Context(), missing)
					return err
				}
			}
		}
		err = a.each(known, func(id string) error {
			job, err := api.Cancel(c.Context(), id)
			if err != nil {
				return err
			}
			what := "is cancelled"
			if job.CancelWanted {
				what = "runs; its worker is told to stop"
			}
			a.printChange(job, what)
			return nil
		})
		return a.firstOf(c.Context(), missing, err)
	}
	return c
}

// liveOf reads jobs before they are cancelled. It returns the ids that could be read, how many of those jobs have not
// ended, and the first error; it reports the other errors itself.
func (a *app) liveOf(ctx context.Context, api *client.Client, ids []string) (known []string, live int, err error) {
	err = a.each(ids, func(id string) error {
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

// counted says what a dry run found.
func (a *app) counted(name string, n int, sentence string) error {
	if a.json {
		return a.printValue(map[string]int{name: n})
	}
	fmt.Fprintln(a.out, sentence)
	return nil
}

func jobs(n int) string { return numbered(n, "job") }

// numbered is a number of things in words.
func numbered(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// each does act for all jobs, however many fail, and returns the first error; the others are reported as they come.
func (a *app) each(ids []string, act func(id string) error) error {
	return a.eachOf(ids, aboutJob, act)
}

// eachOf is each of things that are no jobs; about names the one that an error is about.
func (a *app) eachOf(ids []string, about func(id string, err error) error, act func(id string) error) error {
	var first error
	for _, id := range ids {
		err := act(id)
		if quiet := (*quietError)(nil); !errors.As(err, &quiet) && !errors.Is(err, errTimeOver) {
			err = about(id, err)
		}
		switch {
		case err == nil:
		case first == nil:
			first = err
		default:
			a.report(context.Background(), err)
		}
	}
	return first
}

// firstOf returns the first of two errors that is one, and reports the other.
func (a *app) firstOf(ctx context.Context, first, second error) error {
	if first == nil {
		return second
	}
	a.reportAlso(ctx, second)
	return first
}

// reportAlso reports an error beside the one that ends the command; nil is none.
func (a *app) reportAlso(ctx context.Context, err error) {
	if err != nil {
		a.report(ctx, err)
	}
}

func (a *app) retryCommand() *cobra.Command {
	return &cobra.Command{Use: "retry ID...", Short: "Retry failed jobs now, their attempts counted from 0", Args: counted(1, -1, "the ids of failed jobs"),
		RunE: func(c *cobra.Command, ids []string) error {
			api, err := a.client()
			if err != nil {
				return err
			}
			return a.each(ids, func(id string) error {
				job, err := api.Retry(c.Context(), id)
				if err == nil {
					a.printChange(job, "is scheduled again")
				}
				return err
			})
		}}
}

func (a *app) rescheduleCommand() *cobra.Command {
	var at time.Time
	var delay time.Duration
	c := &cobra.Command{Use: "reschedule ID", Short: "Give a waiting job another time", Args: counted(1, 1, "the id of a job")}
	flagsOf(c).instant(&at, "run-at", "the time")
	flagsOf(c).length(&delay, "delay", 0, core.MaxDelay, "from now, such as 90s or 1h30m")
	c.RunE = func(c *cobra.Command, ids []string) error {
		if c.Flags().Changed("run-at") == c.Flags().Changed("delay") {
			return usage("%s wants one of --run-at and --delay", c.CommandPath())
		}
		api, err := a.client()
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
			a.printChange(job, "runs at "+jobTime(job, "run_at", job.RunAt))
		}
		return aboutJob(ids[0], err)
	}
	return c
}

// words tells shells what a flag can be.
func words(c *cobra.Command, flag string, list ...string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag is one of ours
	}
}
