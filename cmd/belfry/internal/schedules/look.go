package schedules

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

func occurrencesCommand(a *console.App) *cobra.Command {
	var tenant string
	var f client.OccurrenceFilter
	limit := 50
	c := &cobra.Command{Use: "occurrences NAME", Short: "Look into a schedule's ledger, newest first: what became of each due instant", Args: console.Args(1, 1, "a schedule's name")}
	tenantFlag(c, &tenant)
	console.FlagsOf(c).Instant(&f.From, "from", "instants at this time or later")
	console.FlagsOf(c).Text(&f.Outcome, "outcome", "fired, caught_up, covered or skipped")
	console.FlagsOf(c).Count(&limit, "limit", 0, math.MaxInt, "at most this many; 0 means all")
	console.Words(c, "outcome", "fired", "caught_up", "covered", "skipped")
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		return console.Listing[*client.Occurrence]{
			Columns: console.Columns("SCHEDULED FOR", "TO", "COUNT", "OUTCOME", "REASON", "JOB"), None: "nothing is in the ledger",
			Row: func(o *client.Occurrence) []string {
				return []string{console.ShowTime(o.ScheduledFor), console.ShowTime(o.To), strconv.FormatInt(o.Count, 10), o.Outcome, o.Reason, o.JobID}
			},
		}.Show(a, api.Occurrences(c.Context(), tenant, args[0], f), limit)
	}
	return c
}

func scheduleNextCommand(a *console.App) *cobra.Command {
	var tenant string
	count := 10
	c := &cobra.Command{Use: "next NAME", Short: "Say when a schedule is due next", Args: console.Args(1, 1, "a schedule's name")}
	tenantFlag(c, &tenant)
	console.FlagsOf(c).Count(&count, "count", 1, 1000, "how many, at most 1,000")
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		p, err := api.NextOccurrences(c.Context(), tenant, args[0], count)
		if err != nil {
			return err
		}
		return printPreview(a, p)
	}
	return c
}

func schedulePreviewCommand(a *console.App) *cobra.Command {
	var r client.Rule
	var from time.Time
	count := 10
	c := &cobra.Command{Use: "preview", Short: "Say when a rule would be due; nothing is kept", Args: console.Args(0, 0, "no arguments"),
		Example: "  belfry schedules preview --cron '30 2 * * *' --time-zone Europe/Berlin --from 2026-03-28T12:00:00Z"}
	ruleFlags(c, &r)
	console.FlagsOf(c).Instant(&from, "from", "after this time; left out, now")
	console.FlagsOf(c).Count(&count, "count", 1, 1000, "how many, at most 1,000")
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		p, err := api.PreviewSchedule(c.Context(), r, from, count)
		if err != nil {
			return err
		}
		return printPreview(a, p)
	}
	return c
}

func printPreview(a *console.App, p *client.Preview) error {
	if a.JSON {
		return a.PrintValue(p)
	}
	fmt.Fprintln(a.Out, console.Clean(p.Description))
	for _, item := range p.Items {
		fmt.Fprintln(a.Out, " ", fireTime(item))
	}
	if len(p.Items) == 0 {
		fmt.Fprintln(a.Out, "  never")
	}
	for _, text := range p.Warnings {
		fmt.Fprintln(a.Out, "note:", console.Clean(text))
	}
	return nil
}

// fireTime is a due instant with its own offset.
func fireTime(item client.PreviewItem) string {
	text := item.At.Format(time.RFC3339Nano)
	if item.DST != "" {
		text += " (clock change: " + console.Clean(item.DST) + ")"
	}
	return text
}

func alertListCommand(a *console.App) *cobra.Command {
	var f client.AlertFilter
	var tenant console.TenantFilter
	var all bool
	limit := 50
	c := &cobra.Command{Use: "list", Short: "List alerts, newest first: those that are open, or all", Args: console.Args(0, 0, "no arguments")}
	tenant.Add(c)
	console.FlagsOf(c).Text(&f.Kind, "kind", "such as schedule_missed")
	c.Flags().BoolVar(&all, "all", false, "also those that are over")
	console.FlagsOf(c).Count(&limit, "limit", 0, math.MaxInt, "at most this many; 0 means all")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		f.Open = !all
		if f.Tenant, err = tenant.Filter(); err != nil {
			return err
		}
		api, err := a.Client()
		if err != nil {
			return err
		}
		return console.Listing[*client.Alert]{
			Columns: console.Columns("RAISED AT", "CLEARED AT", "KIND", "SUBJECT…12", "TENANT…8", "DETAIL…12"), None: "there are no alerts",
			Row: func(alert *client.Alert) []string {
				return []string{console.ShowTime(alert.RaisedAt), console.ShowTime(alert.ClearedAt), alert.Kind, alert.Subject, alert.Tenant, alert.Detail}
			},
		}.Show(a, api.Alerts(c.Context(), f), limit)
	}
	return c
}
