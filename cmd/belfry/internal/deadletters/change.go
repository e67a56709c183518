package deadletters

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

func redriveCommand(a *console.App) *cobra.Command {
	var d deadFlags
	c := &cobra.Command{Use: "redrive [ID...]", Short: "Retry dead letters, the lowest id first", Args: console.Args(0, -1, "ids, or flags that say which"),
		Long: "Retry dead letters that match, the lowest id first. With --rate each is due that much after the one before, so that they come back no faster, whatever becomes of this command. One whose dedupe key another live job holds is left and reported; one that fails again meanwhile is left too. Where it ends early it says how to go on."}
	d.addChange(c, "retried")
	console.FlagsOf(c).Rate(&d.rate, "rate", "at most this many a second; left out, all at once")
	console.FlagsOf(c).Instant(&d.from, "from", "when the first is due: to go on, or for later; now where it is left out")
	console.FlagsOf(c).Text(&d.after, "after", "only ids above this: to go on")
	c.RunE = func(c *cobra.Command, ids []string) error {
		return change(a, c, &d, ids, "would be retried", "would_redrive", redrive)
	}
	return c
}

func discardCommand(a *console.App) *cobra.Command {
	var d deadFlags
	c := &cobra.Command{Use: "discard [ID...]", Short: "Delete dead letters for good", Args: console.Args(0, -1, "ids, or flags that say which")}
	d.addChange(c, "deleted")
	c.RunE = func(c *cobra.Command, ids []string) error {
		return change(a, c, &d, ids, "would be deleted for good", "would_discard", discard)
	}
	return c
}

// change counts what matches, asks, and does it.
func change(a *console.App, c *cobra.Command, d *deadFlags, ids []string, would, name string, do func(context.Context, *console.App, *client.Client, *deadFlags, int) error) error {
	if err := d.settleChange(c, ids); err != nil {
		return err
	}
	api, err := a.Client()
	if err != nil {
		return err
	}
	n, capped, err := api.CountDead(c.Context(), d.filter, d.after)
	if err != nil {
		return err
	}
	missing, err := d.missing(c.Context(), api, n)
	if err != nil {
		return err
	}
	if err := changeCounted(c.Context(), a, api, d, n, capped, would, name, do); err != nil {
		return err
	}
	return missing
}

// missing names the ids that are given and are no dead letters, or not among those that the flags say: n are. One that a
// redrive went on after is none any more.
func (d *deadFlags) missing(ctx context.Context, api *client.Client, n int) (none, err error) {
	ids := slices.Compact(slices.Sorted(slices.Values(d.filter.IDs)))
	if n >= len(ids) || d.after != "" {
		return nil, nil
	}
	var gone []string
	var look func(ids []string, n int) error
	look = func(ids []string, n int) error { // in halves: most are there
		if n == len(ids) || n == 0 {
			if n == 0 {
				gone = append(gone, ids...)
			}
			return nil
		}
		filter, half := d.filter, len(ids)/2
		filter.IDs = ids[:half]
		first, _, err := api.CountDead(ctx, filter, "")
		if err != nil {
			return err
		}
		if err := look(ids[:half], min(first, half)); err != nil {
			return err
		}
		return look(ids[half:], min(max(n-first, 0), len(ids)-half))
	}
	if err := look(ids, n); err != nil || len(gone) == 0 {
		return nil, err
	}
	return fmt.Errorf("%w: no dead letter among those meant has the id %s", client.ErrNotFound, strings.Join(gone, ", ")), nil
}

// changeCounted asks about what was counted, and does it.
func changeCounted(ctx context.Context, a *console.App, api *client.Client, d *deadFlags, n int, capped bool, would, name string, do func(context.Context, *console.App, *client.Client, *deadFlags, int) error) error {
	if d.limit > 0 && n >= d.limit {
		n, capped = d.limit, false
	}
	sentence := console.Count(n, capped) + " dead letters " + would
	if n == 1 {
		sentence = "1 dead letter " + would
	}
	if d.dry {
		return a.PrintCount(name, n, sentence)
	}
	if n > 0 {
		if err := a.Sure(d.yes, sentence); err != nil {
			return err
		}
	}
	if !capped {
		d.limit = n // what fails meanwhile was not asked about
	}
	return do(ctx, a, api, d, n)
}

// redrive retries what matches. expected is how many that are, as far as they were counted.
func redrive(ctx context.Context, a *console.App, api *client.Client, d *deadFlags, expected int) error {
	var err error
	sum := client.Redriven{Conflicts: []client.Conflict{}}
	if expected > 0 {
		p := a.Progress("dead letters", int64(expected))
		sum, err = api.RedriveAll(ctx, d.filter, client.RedriveOptions{Limit: d.limit, Rate: d.rate, From: d.from, After: d.after, Progress: func(r client.Redriven) {
			through := r.Redriven + len(r.Conflicts)
			if d.limit == 0 {
				p.Total = int64(through + r.Remaining) // as far as they can be counted
			}
			p.At(through, int64(through))
		}})
		p.End()
	}
	if err != nil {
		return fmt.Errorf("after %s: %w%s", console.Numbered(sum.Redriven, "dead letter"), err, goOn(sum))
	}
	if a.JSON {
		return a.PrintValue(sum)
	}
	pace := ""
	if d.rate > 0 && sum.Redriven > 0 {
		pace = fmt.Sprintf(", the last due before %s", console.ShowTime(sum.NextRunAt))
	}
	fmt.Fprintf(a.Out, "%s scheduled again%s, %d left\n", console.Numbered(sum.Redriven, "job"), pace, len(sum.Conflicts))
	for _, conflict := range sum.Conflicts {
		fmt.Fprintf(a.Out, "  job %s: %s %s\n", console.Clean(conflict.ID), console.Clean(conflict.Reason), console.Clean(conflict.JobID))
	}
	return nil
}

// goOn says with which flags a redrive that ended early goes on.
func goOn(r client.Redriven) string {
	if r.After == "" {
		return ""
	}
	flags := " --after " + r.After
	if !r.NextRunAt.IsZero() {
		flags += " --from " + r.NextRunAt.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	}
	return "; the same command goes on with" + flags
}

// discard deletes what matches. expected is how many that are, as far as they were counted.
func discard(ctx context.Context, a *console.App, api *client.Client, d *deadFlags, expected int) error {
	sum, err := client.Discarded{Left: []string{}}, error(nil)
	if expected > 0 {
		p := a.Progress("dead letters", int64(expected))
		sum, err = api.DiscardAll(ctx, d.filter, client.DiscardOptions{Limit: d.limit, Progress: func(r client.Discarded) {
			through := r.Discarded + r.LeftCount
			p.At(through, int64(through))
		}})
		p.End()
	}
	if err != nil {
		return fmt.Errorf("after %s%s: %w", console.Numbered(sum.Discarded, "dead letter"), stayed(sum), err)
	}
	if err := a.PrintCount("discarded", sum.Discarded, fmt.Sprintf("%d deleted", sum.Discarded)); err != nil || sum.LeftCount == 0 {
		return err
	}
	return fmt.Errorf("%s could not be deleted, because their rows raise an error: %s; belfry doctor says which error", console.Numbered(sum.LeftCount, "dead letter"), leftIDs(sum))
}

// stayed says how many could not be deleted; "" for none.
func stayed(sum client.Discarded) string {
	if sum.LeftCount == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d that could not be deleted (%s)", sum.LeftCount, leftIDs(sum))
}

// leftIDs are the ids of dead letters that could not be deleted, as many as are known.
func leftIDs(sum client.Discarded) string {
	text := strings.Join(sum.Left, ", ")
	if more := sum.LeftCount - len(sum.Left); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return console.Clean(text)
}
