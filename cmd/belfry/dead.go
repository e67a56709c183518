package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
)

// deadFlags say which dead letters are meant.
type deadFlags struct {
	filter       client.DeadFilter
	tenant, when string
	limit, rate  int
	yes, dry     bool
}

func (d *deadFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&d.filter.Type, "type", "", "of this type")
	c.Flags().StringVar(&d.tenant, "tenant", "", `of this tenant; "" means those without one`)
}

func (d *deadFlags) addChange(c *cobra.Command, verb string) {
	d.add(c)
	c.Flags().BoolVar(&d.filter.All, "all", false, "all of them, where nothing else says which are meant")
	c.Flags().IntVar(&d.limit, "limit", 0, "at most this many; 0 means all that match")
	c.Flags().BoolVarP(&d.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&d.dry, "dry-run", false, "only count what would be "+verb)
}

// settle checks the flags together with the ids that stand as arguments.
func (d *deadFlags) settle(c *cobra.Command, ids []string) (err error) {
	if c.Flags().Changed("tenant") {
		d.filter.Tenant = &d.tenant
	}
	if d.filter.FailedBefore, err = instant("--failed-before", d.when); err != nil {
		return err
	}
	if len(ids) > 1000 {
		return usage("%s takes at most 1000 ids at a time", c.CommandPath())
	}
	if len(ids) > 0 {
		d.filter.IDs = ids
	}
	if d.limit < 0 || d.rate < 0 {
		return usage("--limit and --rate must not be negative")
	}
	f := d.filter
	if named := f.Type != "" || f.Tenant != nil || len(f.IDs) > 0 || !f.FailedBefore.IsZero(); !named && !f.All {
		return usage("%s wants ids, a filter, or --all", c.CommandPath())
	}
	return nil
}

func (a *app) deadListCommand() *cobra.Command {
	var d deadFlags
	c := &cobra.Command{Use: "list", Short: "List dead letters, newest first", Args: counted(0, 0, "no arguments: filters are flags")}
	d.add(c)
	c.Flags().IntVar(&d.limit, "limit", 50, "at most this many; 0 means all")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if c.Flags().Changed("tenant") {
			d.filter.Tenant = &d.tenant
		}
		if d.limit < 0 {
			return usage("--limit must not be negative")
		}
		api, err := a.client()
		if err != nil {
			return err
		}
		return a.printJobs(api.DeadLetters(c.Context(), d.filter), d.limit)
	}
	return c
}

func (a *app) redriveCommand() *cobra.Command {
	var d deadFlags
	c := &cobra.Command{Use: "redrive [ID...]", Short: "Retry dead letters, oldest first",
		Long: "Retry dead letters that match, oldest first. One whose dedupe key another live job holds is left and reported."}
	d.addChange(c, "retried")
	c.Flags().IntVar(&d.rate, "rate", 0, "at most this many a second; 0 means as fast as they go")
	c.RunE = func(c *cobra.Command, ids []string) error {
		return a.change(c, &d, ids, "would be retried", "would_redrive", a.redrive)
	}
	return c
}

func (a *app) discardCommand() *cobra.Command {
	var d deadFlags
	c := &cobra.Command{Use: "discard [ID...]", Short: "Delete dead letters for good"}
	d.addChange(c, "deleted")
	c.Flags().StringVar(&d.when, "failed-before", "", "that failed before this time (RFC 3339)")
	c.RunE = func(c *cobra.Command, ids []string) error {
		return a.change(c, &d, ids, "would be deleted for good", "would_discard", a.discard)
	}
	return c
}

// change counts what matches, asks, and does it.
func (a *app) change(c *cobra.Command, d *deadFlags, ids []string, would, name string, do func(context.Context, *client.Client, *deadFlags) error) error {
	if err := d.settle(c, ids); err != nil {
		return err
	}
	api, err := a.client()
	if err != nil {
		return err
	}
	n, err := countDead(c.Context(), api, d)
	if err != nil {
		return err
	}
	count := fmt.Sprintf("%d dead letters %s", n, would)
	if n == 1 {
		count = "1 dead letter " + would
	}
	if d.dry {
		return a.counted(name, n, count)
	}
	if n > 0 {
		if err := a.sure(d.yes, count); err != nil {
			return err
		}
	}
	d.limit = n // what fails again meanwhile was not asked about
	return do(c.Context(), api, d)
}

// countDead counts the dead letters that match, up to the limit.
func countDead(ctx context.Context, api *client.Client, d *deadFlags) (int, error) {
	n := 0
	wanted := map[string]bool{}
	for _, id := range d.filter.IDs {
		wanted[id] = true
	}
	filter := client.DeadFilter{Type: d.filter.Type, Tenant: d.filter.Tenant}
	for job, err := range api.DeadLetters(ctx, filter) {
		if err != nil {
			return 0, err
		}
		before := d.filter.FailedBefore
		if (len(wanted) == 0 || wanted[job.ID]) && (before.IsZero() || job.FinishedAt.Before(before)) {
			n++
		}
		if n == d.limit && n > 0 || n == len(wanted) && n > 0 {
			break
		}
	}
	return n, nil
}

// step is how many dead letters one request takes.
const step = 1000

// share is how many the next request takes, of those that are left under the limit.
func (d *deadFlags) share(done int) int {
	n := step
	if d.rate > 0 {
		n = min(n, d.rate)
	}
	return min(n, d.limit-done)
}

func (a *app) redrive(ctx context.Context, api *client.Client, d *deadFlags) error {
	p := a.progress("dead letters", int64(d.limit))
	sum := client.Redriven{Conflicts: []client.Conflict{}}
	left := map[string]bool{} // conflicts stay the oldest, and come back with every request
	through := func() int { return sum.Redriven + len(left) }
	for d.share(through()) > 0 {
		start, before := a.now(), through()
		want := min(d.share(before)+len(left), 10*step)
		r, err := api.Redrive(ctx, d.filter, want)
		if err != nil {
			p.end()
			return fmt.Errorf("after %d dead letters: %w", sum.Redriven, err)
		}
		sum.Redriven += r.Redriven
		for _, conflict := range r.Conflicts {
			if !left[conflict.ID] {
				left[conflict.ID] = true
				sum.Conflicts = append(sum.Conflicts, conflict)
			}
		}
		p.at(through(), int64(through()))
		if r.Redriven+len(r.Conflicts) < want || through() == before {
			break // no more match
		}
		if d.rate > 0 && d.share(through()) > 0 {
			if err := pause(ctx, time.Duration(r.Redriven)*time.Second/time.Duration(d.rate)-a.now().Sub(start)); err != nil {
				p.end()
				return fmt.Errorf("after %d dead letters: %w", sum.Redriven, err)
			}
		}
	}
	p.end()
	if a.json {
		return a.printValue(sum)
	}
	fmt.Fprintf(a.out, "%s scheduled again, %d left\n", jobs(sum.Redriven), len(sum.Conflicts))
	for _, conflict := range sum.Conflicts {
		fmt.Fprintf(a.out, "  job %s: %s %s\n", clean(conflict.ID), clean(conflict.Reason), clean(conflict.JobID))
	}
	return nil
}

func (a *app) discard(ctx context.Context, api *client.Client, d *deadFlags) error {
	p := a.progress("dead letters", int64(d.limit))
	done := 0
	for d.share(done) > 0 {
		want := d.share(done)
		n, err := api.Discard(ctx, d.filter, want)
		if err != nil {
			p.end()
			return fmt.Errorf("after %d dead letters: %w", done, err)
		}
		done += n
		p.at(done, int64(done))
		if n < want {
			break
		}
	}
	p.end()
	return a.counted("discarded", done, fmt.Sprintf("%d deleted", done))
}

// pause waits, or returns why ctx ended.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
