// Package schedules is belfry schedules and belfry alerts. apply reads files of schedules (file.go, yaml.go) and plans what they change
// (plan.go); import reads crontabs (crontab.go).
package schedules

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

// Commands are the commands about schedules and alerts.
func Commands(a *console.App) []*cobra.Command {
	return []*cobra.Command{
		console.Group("schedules", "Rules that make jobs", scheduleListCommand(a), scheduleGetCommand(a), schedulePutCommand(a), scheduleDeleteCommand(a),
			scheduleTurnCommand(a, "pause", "Stop a schedule until it is resumed", "paused", (*client.Client).PauseSchedule),
			scheduleTurnCommand(a, "resume", "End a pause: runs that came due in it follow the missed policy, once", "resumed", (*client.Client).ResumeSchedule),
			scheduleTriggerCommand(a), scheduleBackfillCommand(a), occurrencesCommand(a), scheduleNextCommand(a), schedulePreviewCommand(a),
			scheduleApplyCommand(a), console.Group("import", "Take over schedules from elsewhere", crontabCommand(a))),
		console.Group("alerts", "Open alerts", alertListCommand(a)),
	}
}

// tenantFlag adds --tenant.
func tenantFlag(c *cobra.Command, to *string) {
	console.FlagsOf(c).Text(to, "tenant", "the schedule's tenant; left out, the token's own, or none")
}

func scheduleListCommand(a *console.App) *cobra.Command {
	var f client.ScheduleFilter
	var tenant console.TenantFilter
	var limit int
	c := &cobra.Command{Use: "list", Short: "List schedules, by tenant and name", Args: console.Args(0, 0, "no arguments")}
	console.FlagsOf(c).Text(&f.Type, "type", "of this type")
	tenant.Add(c)
	console.FlagsOf(c).Count(&limit, "limit", 0, math.MaxInt, "at most this many; 0 means all")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if f.Tenant, err = tenant.Filter(); err != nil {
			return err
		}
		api, err := a.Client()
		if err != nil {
			return err
		}
		return console.Listing[*client.Schedule]{
			Columns: console.Columns("NAME…16", "TENANT…8", "TYPE…12", "RULE…8", "NEXT DUE", "STATE"), Document: (*client.Schedule).Document, None: "there are no schedules",
			Row: func(s *client.Schedule) []string {
				return []string{s.Name, s.Tenant, s.Type, ruleText(s), console.ScheduleTime(s, "next_due", s.NextDue), scheduleState(s)}
			},
		}.Show(a, api.Schedules(c.Context(), f), limit)
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

func scheduleGetCommand(a *console.App) *cobra.Command {
	var tenant string
	c := &cobra.Command{Use: "get NAME", Short: "Look at a schedule", Args: console.Args(1, 1, "a schedule's name")}
	tenantFlag(c, &tenant)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		s, err := api.GetSchedule(c.Context(), tenant, args[0])
		if err == nil {
			printSchedule(a, s)
		}
		return err
	}
	return c
}

// printSchedule writes all of a schedule.
func printSchedule(a *console.App, s *client.Schedule) {
	if a.JSON {
		a.PrintDocument(s.Document())
		return
	}
	a.Line("name", s.Name)
	a.Line("tenant", s.Tenant)
	a.Line("rule", s.Description)
	a.Line("invalid", s.Invalid)
	a.Line("cron", s.Cron)
	if s.Every != 0 {
		a.Line("every", s.Every.String())
	}
	a.Line("time zone", s.TimeZone)
	a.Line("state", scheduleState(s))
	a.Line("next due", console.ScheduleTime(s, "next_due", s.NextDue))
	a.Line("type", s.Type)
	a.Line("missed", s.Missed)
	a.Line("overlap", s.Overlap)
	if s.ExpiresAfter != 0 {
		a.Line("expires after", s.ExpiresAfter.String())
	}
	if s.ExpectWithin != 0 {
		a.Line("expect within", s.ExpectWithin.String())
	}
	a.Line("version", strconv.FormatInt(s.Version, 10))
	a.Line("tz data", s.TZData)
	a.Line("created at", console.ScheduleTime(s, "created_at", s.CreatedAt))
	a.Line("updated at", console.ScheduleTime(s, "updated_at", s.UpdatedAt))
}

func scheduleDeleteCommand(a *console.App) *cobra.Command {
	var tenant string
	var yes, dry bool
	c := &cobra.Command{Use: "delete NAME", Short: "Delete a schedule with its ledger; its jobs stay", Args: console.Args(1, 1, "a schedule's name")}
	tenantFlag(c, &tenant)
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what would be deleted")
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		s, err := api.GetSchedule(c.Context(), tenant, args[0])
		if err != nil {
			return err
		}
		question := fmt.Sprintf("the schedule %s (%s) would be deleted, with its ledger", s.Name, ruleText(s))
		if dry {
			return a.PrintCount("would_delete", 1, console.Clean(question))
		}
		if err := a.Sure(yes, question); err != nil {
			return err
		}
		if err := api.DeleteSchedule(c.Context(), tenant, args[0], client.Condition{IfVersion: s.Version}); err != nil {
			return err
		}
		if a.JSON {
			return a.PrintValue(map[string]string{"deleted": args[0]})
		}
		fmt.Fprintf(a.Out, "the schedule %s is deleted\n", console.Clean(args[0]))
		return nil
	}
	return c
}

func scheduleTurnCommand(a *console.App, verb, short, done string, act func(c *client.Client, ctx context.Context, tenant, name string) (*client.Schedule, error)) *cobra.Command {
	var tenant string
	c := &cobra.Command{Use: verb + " NAME", Short: short, Args: console.Args(1, 1, "a schedule's name")}
	tenantFlag(c, &tenant)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		s, err := act(api, c.Context(), tenant, args[0])
		if err != nil {
			return err
		}
		if a.JSON {
			a.PrintDocument(s.Document())
			return nil
		}
		fmt.Fprintf(a.Out, "the schedule %s is %s\n", console.Clean(s.Name), done)
		return nil
	}
	return c
}

func scheduleTriggerCommand(a *console.App) *cobra.Command {
	var tenant string
	c := &cobra.Command{Use: "trigger NAME", Short: "Make a run now, beside the rule", Args: console.Args(1, 1, "a schedule's name")}
	tenantFlag(c, &tenant)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		job, err := api.TriggerSchedule(c.Context(), tenant, args[0])
		if err != nil {
			return err
		}
		a.PrintChange(job, "is "+string(job.Status)+", made by "+args[0])
		return nil
	}
	return c
}
