package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
)

// scheduleCommands are the commands about schedules and alerts.
func (a *app) scheduleCommands() []*cobra.Command {
	return []*cobra.Command{
		group("schedules", "Rules that make jobs", a.scheduleListCommand(), a.scheduleGetCommand(), a.schedulePutCommand(), a.scheduleDeleteCommand(),
			a.scheduleTurnCommand("pause", "Stop a schedule until it is resumed", "paused", (*client.Client).PauseSchedule),
			a.scheduleTurnCommand("resume", "End a pause: runs that came due in it follow the missed policy, once", "resumed", (*client.Client).ResumeSchedule),
			a.scheduleTriggerCommand(), a.scheduleBackfillCommand(), a.occurrencesCommand(), a.scheduleNextCommand(), a.schedulePreviewCommand(),
			a.scheduleApplyCommand(), group("import", "Take over schedules from elsewhere", a.crontabCommand())),
		group("alerts", "Open alerts", a.alertListCommand()),
	}
}

// tenantFlag adds --tenant.
func tenantFlag(c *cobra.Command, to *string) {
	flagsOf(c).text(to, "tenant", "the schedule's tenant; left out, the token's own, or none")
}

func (a *app) scheduleListCommand() *cobra.Command {
	var f client.ScheduleFilter
	var tenant tenantFilter
	var limit int
	c := &cobra.Command{Use: "list", Short: "List schedules, by tenant and name", Args: counted(0, 0, "no arguments")}
	flagsOf(c).text(&f.Type, "type", "of this type")
	tenant.add(c)
	flagsOf(c).count(&limit, "limit", 0, math.MaxInt, "at most this many; 0 means all")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if f.Tenant, err = tenant.filter(); err != nil {
			return err
		}
		api, err := a.client()
		if err != nil {
			return err
		}
		return listing[*client.Schedule]{
			columns: columns("NAME…16", "TENANT…8", "TYPE…12", "RULE…8", "NEXT DUE", "STATE"), document: (*client.Schedule).Document, none: "there are no schedules",
			row: func(s *client.Schedule) []string {
				return []string{s.Name, s.Tenant, s.Type, ruleText(s), scheduleTime(s, "next_due", s.NextDue), scheduleState(s)}
			},
		}.show(a, api.Schedules(c.Context(), f), limit)
	}
	return c
}

// ruleText is a schedule's rule in words, or why it makes no runs.
func ruleText(s *client.Schedule) string { return cmp.Or(s.Invalid, s.Description) }

// scheduleState is a schedule's state in a word or two.
func scheduleState(s *client.Schedule) string {
	state := "on"
	switch {
	case s.Invalid != "":
		state = "invalid"
	case s.Paused:
		state = "paused"
	case s.NextDue.IsZero():
		state = "ended"
	case s.Active:
		state = "running"
	}
	if s.Alerted {
		state += ", overdue"
	}
	return state
}

func (a *app) scheduleGetCommand() *cobra.Command {
	var tenant string
	c := &cobra.Command{Use: "get NAME", Short: "Look at a schedule", Args: counted(1, 1, "a schedule's name")}
	tenantFlag(c, &tenant)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.client()
		if err != nil {
			return err
		}
		s, err := api.GetSchedule(c.Context(), tenant, args[0])
		if err == nil {
			a.printSchedule(s)
		}
		return err
	}
	return c
}

// printSchedule writes all of a schedule.
func (a *app) printSchedule(s *client.Schedule) {
	if a.json {
		a.printDocument(s.Document())
		return
	}
	a.line("name", s.Name)
	a.line("tenant", s.Tenant)
	a.line("rule", s.Description)
	a.line("invalid", s.Invalid)
	a.line("cron", s.Cron)
	if s.Every != 0 {
		a.line("every", s.Every.String())
	}
	a.line("time zone", s.TimeZone)
	a.line("state", scheduleState(s))
	a.line("next due", scheduleTime(s, "next_due", s.NextDue))
	a.line("type", s.Type)
	a.line("missed", s.Missed)
	a.line("overlap", s.Overlap)
	if s.ExpiresAfter != 0 {
		a.line("expires after", s.ExpiresAfter.String())
	}
	if s.ExpectWithin != 0 {
		a.line("expect within", s.ExpectWithin.String())
	}
	a.line("version", strconv.FormatInt(s.Version, 10))
	a.line("tz data", s.TZData)
	a.line("created at", scheduleTime(s, "created_at", s.CreatedAt))
	a.line("updated at", scheduleTime(s, "updated_at", s.UpdatedAt))
}

func (a *app) scheduleDeleteCommand() *cobra.Command {
	var tenant string
	var yes, dry bool
	c := &cobra.Command{Use: "delete NAME", Short: "Delete a schedule with its ledger; its jobs stay", Args: counted(1, 1, "a schedule's name")}
	tenantFlag(c, &tenant)
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what would be deleted")
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.client()
		if err != nil {
			return err
		}
		s, err := api.GetSchedule(c.Context(), tenant, args[0])
		if err != nil {
			return err
		}
		question := fmt.Sprintf("the schedule %s (%s) would be deleted, with its ledger", s.Name, ruleText(s))
		if dry {
			return a.counted("would_delete", 1, clean(question))
		}
		if err := a.sure(yes, question); err != nil {
			return err
		}
		if err := api.DeleteSchedule(c.Context(), tenant, args[0], client.Condition{IfVersion: s.Version}); err != nil {
			return err
		}
		if a.json {
			return a.printValue(map[string]string{"deleted": args[0]})
		}
		fmt.Fprintf(a.out, "the schedule %s is deleted\n", clean(args[0]))
		return nil
	}
	return c
}

func (a *app) scheduleTurnCommand(verb, short, done string, act func(c *client.Client, ctx context.Context, tenant, name string) (*client.Schedule, error)) *cobra.Command {
	var tenant string
	c := &cobra.Command{Use: verb + " NAME", Short: short, Args: counted(1, 1, "a schedule's name")}
	tenantFlag(c, &tenant)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.client()
		if err != nil {
			return err
		}
		s, err := act(api, c.Context(), tenant, args[0])
		if err != nil {
			return err
		}
		if a.json {
			a.printDocument(s.Document())
			return nil
		}
		fmt.Fprintf(a.out, "the schedule %s is %s\n", clean(s.Name), done)
		return nil
	}
	return c
}

func (a *app) scheduleTriggerCommand() *cobra.Command {
	var tenant string
	c := &cobra.Command{Use: "trigger NAME", Short: "Make a run now, beside the rule", Args: counted(1, 1, "a schedule's name")}
	tenantFlag(c, &tenant)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.client()
		if err != nil {
			return err
		}
		job, err := api.TriggerSchedule(c.Context(), tenant, args[0])
		if err != nil {
			return err
		}
		a.printChange(job, "is "+string(job.Status)+", made by "+args[0])
		return nil
	}
	return c
}
