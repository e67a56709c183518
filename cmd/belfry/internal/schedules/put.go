package schedules

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
)

// ruleFlags adds the flags of a rule.
func ruleFlags(c *cobra.Command, r *client.Rule) {
	f := console.FlagsOf(c)
	f.Text(&r.Cron, "cron", "five fields, or six with seconds first, or @daily and its like")
	f.Length(&r.Every, "every", schedule.MinEvery, core.MaxDelay, "instead of --cron: elapsed time, at least 1s")
	f.Text(&r.TimeZone, "time-zone", "an IANA zone such as Europe/Berlin; left out, UTC")
	f.Text(&r.DSTGap, "dst-gap", "what becomes of times that the clock jumps over: run_at_transition, shift or skip")
	f.Text(&r.DSTOverlap, "dst-overlap", "in which pass of a repeated hour it runs: first, last or both")
	f.Instant(&r.StartsAt, "starts-at", "no instant before this time")
	f.Instant(&r.EndsAt, "ends-at", "no instant at or after this time")
	console.Words(c, "dst-gap", "run_at_transition", "shift", "skip")
	console.Words(c, "dst-overlap", "first", "last", "both")
}

func schedulePutCommand(a *console.App) *cobra.Command {
	var s client.NewSchedule
	var payload, priority string
	c := &cobra.Command{Use: "put NAME", Short: "Make a schedule, or change it", Args: console.Args(1, 1, "a schedule's name"),
		Long: `Make a schedule, or replace its definition as a whole: what no flag says takes its default. Putting the same again
changes nothing. What has more to it (targets, tags, back-off) goes into a file: see schedules apply.`,
		Example: "  belfry schedules put nightly --cron '30 2 * * *' --time-zone Europe/Berlin --type report.nightly --expect-within 1h"}
	ruleFlags(c, &s.Rule)
	f := console.FlagsOf(c)
	f.Text(&s.Type, "type", "of its jobs (required)")
	f.Path(&payload, "payload", "of its jobs: JSON, @file or - for standard input")
	f.Text(&priority, "priority", "critical, default or bulk")
	f.Text(&s.Tenant, "tenant", "of the schedule and its jobs")
	f.Text(&s.Missed, "missed", "what becomes of instants that were missed: all, once or skip")
	f.Text(&s.Overlap, "overlap", "what becomes of a run while the one before it is active: allow, skip, queue_one or cancel_running")
	f.Length(&s.Jitter, "jitter", 0, schedule.MaxJitter, "spread runs over so long behind their instant")
	f.Length(&s.ExpiresAfter, "expires-after", core.MinExpiresAfter, core.MaxExpiresAfter, "cancel runs that have not started so long after they may")
	f.Length(&s.ExpectWithin, "expect-within", core.MinExpectWithin, core.MaxExpectWithin, "raise an alert where nothing succeeds so long after an instant")
	f.BoolVar(&s.Paused, "paused", false, "make it paused")
	console.Words(c, "priority", "critical", "default", "bulk")
	console.Words(c, "missed", "all", "once", "skip")
	console.Words(c, "overlap", "allow", "skip", "queue_one", "cancel_running")
	c.RunE = func(c *cobra.Command, args []string) error {
		s.Name, s.Priority = args[0], client.Priority(priority)
		raw, err := a.ReadPayload(payload)
		if err != nil {
			return err
		}
		if raw != nil {
			s.Payload = json.RawMessage(raw)
		}
		api, err := a.Client()
		if err != nil {
			return err
		}
		kept, made, err := api.PutSchedule(c.Context(), s, client.Condition{})
		if err != nil {
			return err
		}
		if a.JSON {
			a.PrintDocument(kept.Document())
			return nil
		}
		fmt.Fprintf(a.Out, "schedule %s %s: %s; next due %s\n", console.Clean(kept.Name), map[bool]string{true: "is made", false: "stands"}[made], console.Clean(kept.Description), orNever(kept.NextDue))
		return nil
	}
	return c
}

func orNever(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return console.ShowTime(t)
}

func scheduleBackfillCommand(a *console.App) *cobra.Command {
	var tenant string
	var from, to time.Time
	var yes, dry bool
	c := &cobra.Command{Use: "backfill NAME", Short: "Make runs for a range of the past", Args: console.Args(1, 1, "a schedule's name"),
		Long: "Make a run, marked as made up late, for each instant of the present rule in a range. They are counted first. The ledger stays as it is,\n" +
			"and so a range that is backfilled again is run again. Where it is broken off it says how far it came.",
		Example: "  belfry schedules backfill nightly --from 2026-03-01T00:00:00Z --to 2026-03-08T00:00:00Z"}
	tenantFlag(c, &tenant)
	console.FlagsOf(c).Instant(&from, "from", "required: the first instant that may be made up")
	console.FlagsOf(c).Instant(&to, "to", "required: up to before this time")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&dry, "dry-run", false, "only count")
	c.RunE = func(c *cobra.Command, args []string) error {
		if from.IsZero() || to.IsZero() {
			return console.Usage("%s wants --from and --to", c.CommandPath())
		}
		api, err := a.Client()
		if err != nil {
			return err
		}
		count, err := api.BackfillSchedule(c.Context(), tenant, args[0], from, to, true)
		if err != nil {
			return err
		}
		question := fmt.Sprintf("%s of %s would be made", console.Numbered(int(count.Count), "run"), args[0])
		if dry {
			return a.PrintCount("would_make", int(count.Count), console.Clean(question))
		}
		if err := a.Sure(yes, question); err != nil {
			return err
		}
		return backfill(a, c, api, tenant, args[0], from, to, count.Count)
	}
	return c
}

// backfill makes the runs, call by call.
func backfill(a *console.App, c *cobra.Command, api *client.Client, tenant, name string, from, to time.Time, total int64) error {
	made := 0
	p := a.Progress("runs made", total)
	defer p.End()
	for !from.IsZero() {
		done, err := api.BackfillSchedule(c.Context(), tenant, name, from, to, false)
		if err != nil {
			p.End()
			if made == 0 {
				return err
			}
			return fmt.Errorf("after %s, of instants before %s: %w", console.Numbered(made, "run"), from.UTC().Format(time.RFC3339Nano), err)
		}
		made += done.Made
		from = done.NextFrom
		p.At(made, int64(made))
	}
	p.End()
	return a.PrintCount("made", made, fmt.Sprintf("%s of %s made", console.Numbered(made, "run"), console.Clean(name)))
}
