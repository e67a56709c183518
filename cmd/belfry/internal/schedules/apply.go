package schedules

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

// applyFlags are what schedules apply takes.
type applyFlags struct {
	days                  int
	yes, dry, check, gone bool
}

func scheduleApplyCommand(a *console.App) *cobra.Command {
	f := applyFlags{days: 7}
	c := &cobra.Command{Use: "apply FILE", Short: "Make schedules as a file says, after showing what that changes", Args: console.Args(1, 1, "a file, or - for standard input"),
		Long: `Make schedules as a YAML file says. What would change is shown first, in fire times: which coming runs appear, vanish or
move within the next days. Each schedule has the fields of the API:

  schedules:
    - name: nightly
      cron: "30 2 * * *"
      time_zone: Europe/Berlin
      type: report.nightly
      payload: {full: true}
      expect_within: 1h

Schedules that the file does not name stay as they are, unless --delete is given: then those of the tenants that it names
are deleted. With --check nothing is changed, and anything that would be ends with code 1.`,
		Example: "  belfry schedules apply schedules.yaml --days 14\n  belfry schedules apply schedules.yaml --check --delete"}
	console.FlagsOf(c).Count(&f.days, "days", 1, 366, "how many days of fire times are compared, 1 to 366")
	c.Flags().BoolVar(&f.gone, "delete", false, "delete schedules that the file does not name")
	c.Flags().BoolVar(&f.check, "check", false, "change nothing; exit code 1 where anything differs")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "only show what would change")
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		file, err := readSchedules(a, args[0])
		if err != nil {
			return err
		}
		return apply(c.Context(), a, api, file, f)
	}
	return c
}

// apply shows the plan, and carries it out once that is wanted.
func apply(ctx context.Context, a *console.App, api *client.Client, file *scheduleFile, f applyFlags) error {
	p := a.Progress("schedules compared", int64(len(file.schedules)))
	plan, err := planSchedules(ctx, api, file, a.Now(), f.days, f.gone, func(n int) { p.At(n, int64(n)) })
	p.End()
	if err != nil {
		return err
	}
	return follow(ctx, a, api, plan, f)
}

// follow shows a plan, asks, and carries it out.
func follow(ctx context.Context, a *console.App, api *client.Client, plan []planned, f applyFlags) error {
	n := map[string]int{}
	for i := range plan {
		n[plan[i].Action]++
		if a.JSON {
			if err := a.PrintValue(&plan[i]); err != nil {
				return err
			}
		} else {
			plan[i].print(a.Out, f.days)
		}
	}
	sum := fmt.Sprintf("%d to make, %d to change, %d to delete, %d unchanged", n["create"], n["change"], n["delete"], n["unchanged"])
	if stays := n["stays"]; stays > 0 {
		sum += fmt.Sprintf(", %d not in the file", stays)
	}
	if !a.JSON {
		fmt.Fprintln(a.Out, sum)
	}
	differs := n["create"]+n["change"]+n["delete"] > 0
	switch {
	case f.check && differs:
		return &console.QuietError{Code: console.ExitFailed}
	case f.check || f.dry || !differs:
		return nil
	}
	if err := a.Sure(f.yes, sum); err != nil {
		return err
	}
	p := a.Progress("changes made", int64(n["create"]+n["change"]+n["delete"]))
	return carryOut(ctx, a, api, plan, p)
}

// carryOut makes each change, if what it was planned from still stands.
func carryOut(ctx context.Context, a *console.App, api *client.Client, plan []planned, through *console.Progress) error {
	done := 0
	for i := range plan {
		p := &plan[i]
		var err error
		switch p.Action {
		case "create":
			_, _, err = api.PutScheduleDocument(ctx, p.Name, p.wanted, client.Condition{IfAbsent: true})
		case "change":
			_, _, err = api.PutScheduleDocument(ctx, p.Name, p.wanted, client.Condition{IfVersion: p.version})
		case "delete":
			err = api.DeleteSchedule(ctx, p.Tenant, p.Name, client.Condition{IfVersion: p.version})
		default:
			continue
		}
		if err != nil {
			through.End()
			if done > 0 && !a.JSON {
				fmt.Fprintf(a.Errs, "%s made before one was refused\n", console.Numbered(done, "change"))
			}
			return fmt.Errorf("after %s: %w", console.Numbered(done, "change"), faultOf(p.Name, err))
		}
		done++
		through.At(done, int64(done))
	}
	through.End()
	if !a.JSON {
		fmt.Fprintln(a.Out, "done")
	}
	return nil
}

// faultOf names the schedule that an error is about. Faults of fields stay what they are.
func faultOf(name string, err error) error {
	var fields client.FieldErrors
	if !errors.As(err, &fields) {
		return fmt.Errorf("schedule %s: %w", name, err)
	}
	var named client.FieldErrors
	for _, f := range fields {
		named = append(named, &client.FieldError{Field: name + ": " + f.Field, Rule: f.Rule})
	}
	return named
}

// shownTimes is how many fire times of a schedule are written out.
const shownTimes = 10

// print writes what would become of a schedule.
func (p *planned) print(w io.Writer, days int) {
	mark := map[string]string{"create": "+", "change": "~", "delete": "-", "unchanged": "=", "stays": " "}[p.Action]
	name := console.Clean(p.Name)
	if p.Tenant != "" {
		name += " (tenant " + console.Clean(p.Tenant) + ")"
	}
	what := map[string]string{"create": "is new", "change": "changes " + console.Clean(strings.Join(p.Fields, ", ")), "delete": "is deleted", "unchanged": "unchanged", "stays": "not in the file; stays"}[p.Action]
	fmt.Fprintf(w, "%s %s: %s", mark, name, what)
	if p.Action == "create" || p.Action == "change" {
		fmt.Fprintf(w, " — %s", console.Clean(p.Rule))
	}
	fmt.Fprintln(w)
	if !p.differs() {
		return
	}
	var lines []string
	for _, m := range p.Move {
		lines = append(lines, "> "+fireTime(m.From)+" moves to "+fireTime(m.To))
	}
	for _, item := range p.Vanish {
		lines = append(lines, "- "+fireTime(item)+" vanishes")
	}
	for _, item := range p.Appear {
		lines = append(lines, "+ "+fireTime(item)+" appears")
	}
	if len(lines) == 0 {
		lines = []string{fmt.Sprintf("no run of the next %s changes", console.Numbered(days, "day"))}
	}
	for i, line := range lines {
		if i == shownTimes {
			fmt.Fprintf(w, "    … and %d more up to %s\n", len(lines)-i, p.Until.UTC().Format(time.RFC3339))
			break
		}
		fmt.Fprintln(w, "   ", line)
	}
}
