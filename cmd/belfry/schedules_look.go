package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
)

func (a *app) occurrencesCommand() *cobra.Command {
	var tenant, from, outcome string
	var limit int
	c := &cobra.Command{Use: "occurrences NAME", Short: "Look into a schedule's ledger, newest first: what became of each due instant", Args: counted(1, 1, "a schedule's name")}
	tenantFlag(c, &tenant)
	c.Flags().StringVar(&from, "from", "", "instants at this time or later (RFC 3339)")
	c.Flags().StringVar(&outcome, "outcome", "", "fired, caught_up, covered or skipped")
	c.Flags().IntVar(&limit, "limit", 50, "at most this many; 0 means all")
	words(c, "outcome", "fired", "caught_up", "covered", "skipped")
	c.RunE = func(c *cobra.Command, args []string) error {
		if limit < 0 {
			return usage("--limit must not be negative")
		}
		f := client.OccurrenceFilter{Outcome: outcome}
		var err error
		if f.From, err = givenTime("--from", from); err != nil {
			return err
		}
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
	var count int
	c := &cobra.Command{Use: "next NAME", Short: "Say when a schedule is due next", Args: counted(1, 1, "a schedule's name")}
	tenantFlag(c, &tenant)
	c.Flags().IntVar(&count, "count", 10, "how many, at most 1,000")
	c.RunE = func(c *cobra.Command, args []string) error {
		if count < 1 {
			return usage("--count must be at least 1")
		}
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
	var starts, ends, from string
	var count int
	c := &cobra.Command{Use: "preview", Short: "Say when a rule would be due; nothing is kept", Args: counted(0, 0, "no arguments"),
		Example: "  belfry schedules preview --cron '30 2 * * *' --time-zone Europe/Berlin --from 2026-03-28T12:00:00Z"}
	ruleFlags(c, &r, &starts, &ends)
	c.Flags().StringVar(&from, "from", "", "after this time (RFC 3339); none means now")
	c.Flags().IntVar(&count, "count", 10, "how many, at most 1,000")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if count < 1 {
			return usage("--count must be at least 1")
		}
		if err := bounds(&r, starts, ends); err != nil {
			return err
		}
		after, err := givenTime("--from", from)
		if err != nil {
			return err
		}
		api, err := a.client()
		if err != nil {
			return err
		}
		p, err := api.PreviewSchedule(c.Context(), r, after, count)
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
	var tenant string
	var all bool
	var limit int
	c := &cobra.Command{Use: "list", Short: "List alerts, newest first: those that are open, or all", Args: counted(0, 0, "no arguments")}
	c.Flags().StringVar(&tenant, "tenant", "", "of this tenant; an empty one means those without")
	c.Flags().StringVar(&f.Kind, "kind", "", "such as schedule_missed")
	c.Flags().BoolVar(&all, "all", false, "also those that are over")
	c.Flags().IntVar(&limit, "limit", 50, "at most this many; 0 means all")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if limit < 0 {
			return usage("--limit must not be negative")
		}
		if f.Open = !all; c.Flags().Changed("tenant") {
			f.Tenant = &tenant
		}
		api, err := a.client()
		if err != nil {
			return err
		}
		return listing[*client.Alert]{
			columns: columns("RAISED AT", "CLEARED AT", "KIND", "SUBJECT…", "TENANT…", "DETAIL…"), none: "there are no alerts",
			row: func(alert *client.Alert) []string {
				return []string{showTime(alert.RaisedAt), showTime(alert.ClearedAt), alert.Kind, alert.Subject, alert.Tenant, alert.Detail}
			},
		}.show(a, api.Alerts(c.Context(), f), limit)
	}
	return c
}
