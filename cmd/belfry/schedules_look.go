package main

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
)

func (a *app) occurrencesCommand() *cobra.Command {
	var tenant string
	var f client.OccurrenceFilter
	limit := 50
	c := &cobra.Command{Use: "occurrences NAME", Short: "Look into a schedule's ledger, newest first: what became of each due instant", Args: counted(1, 1, "a schedule's name")}
	tenantFlag(c, &tenant)
	flagsOf(c).instant(&f.From, "from", "instants at this time or later")
	flagsOf(c).text(&f.Outcome, "outcome", "fired, caught_up, covered or skipped")
	flagsOf(c).count(&limit, "limit", 0, math.MaxInt, "at most this many; 0 means all")
	words(c, "outcome", "fired", "caught_up", "covered", "skipped")
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.client()
		if err != nil {
			return err
		}
		return listing[*client.Occurrence]{
			columns: columns("SCHEDULED FOR", "TO", "COUNT", "OUTCOME", "REASON", "JOB"), none: "nothing is in the ledger",
			row: func(o *client.Occurrence) []string {
				return []string{showTime(o.ScheduledFor), showTime(o.To), strconv.FormatInt(o.Count, 10), o.Outcome, o.Reason, o.JobID}
			},
		}.show(a, api.Occurrences(c.Context(), tenant, args[0], f), limit)
	}
	return c
}

func (a *app) scheduleNextCommand() *cobra.Command {
	var tenant string
	count := 10
	c := &cobra.Command{Use: "next NAME", Short: "Say when a schedule is due next", Args: counted(1, 1, "a schedule's name")}
	tenantFlag(c, &tenant)
	flagsOf(c).count(&count, "count", 1, 1000, "how many, at most 1,000")
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.client()
		if err != nil {
			return err
		}
		p, err := api.NextOccurrences(c.Context(), tenant, args[0], count)
		if err != nil {
			return err
		}
		return a.printPreview(p)
	}
	return c
}

func (a *app) schedulePreviewCommand() *cobra.Command {
	var r client.Rule
	var from time.Time
	count := 10
	c := &cobra.Command{Use: "preview", Short: "Say when a rule would be due; nothing is kept", Args: counted(0, 0, "no arguments"),
		Example: "  belfry schedules preview --cron '30 2 * * *' --time-zone Europe/Berlin --from 2026-03-28T12:00:00Z"}
	ruleFlags(c, &r)
	flagsOf(c).instant(&from, "from", "after this time; left out, now")
	flagsOf(c).count(&count, "count", 1, 1000, "how many, at most 1,000")
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.client()
		if err != nil {
			return err
		}
		p, err := api.PreviewSchedule(c.Context(), r, from, count)
		if err != nil {
			return err
		}
		return a.printPreview(p)
	}
	return c
}

func (a *app) printPreview(p *client.Preview) error {
	if a.json {
		return a.printValue(p)
	}
	fmt.Fprintln(a.out, clean(p.Description))
	for _, item := range p.Items {
		fmt.Fprintln(a.out, " ", fireTime(item))
	}
	if len(p.Items) == 0 {
		fmt.Fprintln(a.out, "  never")
	}
	for _, text := range p.Warnings {
		fmt.Fprintln(a.out, "note:", clean(text))
	}
	return nil
}

// fireTime is a due instant with its own offset.
func fireTime(item client.PreviewItem) string {
	text := item.At.Format(time.RFC3339Nano)
	if item.DST != "" {
		text += " (clock change: " + clean(item.DST) + ")"
	}
	return text
}

func (a *app) alertListCommand() *cobra.Command {
	var f client.AlertFilter
	var tenant tenantFilter
	var all bool
	limit := 50
	c := &cobra.Command{Use: "list", Short: "List alerts, newest first: those that are open, or all", Args: counted(0, 0, "no arguments")}
	tenant.add(c)
	flagsOf(c).text(&f.Kind, "kind", "such as schedule_missed")
	c.Flags().BoolVar(&all, "all", false, "also those that are over")
	flagsOf(c).count(&limit, "limit", 0, math.MaxInt, "at most this many; 0 means all")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		f.Open = !all
		if f.Tenant, err = tenant.filter(); err != nil {
			return err
		}
		api, err := a.client()
		if err != nil {
			return err
		}
		return listing[*client.Alert]{
			columns: columns("RAISED AT", "CLEARED AT", "KIND", "SUBJECT…12", "TENANT…8", "DETAIL…12"), none: "there are no alerts",
			row: func(alert *client.Alert) []string {
				return []string{showTime(alert.RaisedAt), showTime(alert.ClearedAt), alert.Kind, alert.Subject, alert.Tenant, alert.Detail}
			},
		}.show(a, api.Alerts(c.Context(), f), limit)
	}
	return c
}
