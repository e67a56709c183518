// Package deadletters is belfry dead-letters: jobs that failed for good.
package deadletters

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

// Command are the commands about dead letters.
func Command(a *console.App) *cobra.Command {
	return console.Group("dead-letters", "Jobs that failed for good", deadListCommand(a), deadGroupsCommand(a), redriveCommand(a), discardCommand(a))
}

// deadFlags say which dead letters are meant.
type deadFlags struct {
	filter   client.DeadFilter
	tenant   console.TenantFilter
	limit    int // 0 means all
	yes, dry bool

	rate  float64 // of redrive, as are the others; 0 means all at once
	from  time.Time
	after string
}

func (d *deadFlags) add(c *cobra.Command) {
	f := console.FlagsOf(c)
	f.Text(&d.filter.Type, "type", "of this type")
	d.tenant.Add(c)
	f.Text(&d.filter.ErrorGroup, "error-group", "that failed alike; belfry dead-letters groups shows them")
	f.Instant(&d.filter.FailedBefore, "failed-before", "that failed before this time")
}

func (d *deadFlags) addChange(c *cobra.Command, verb string) {
	d.add(c)
	c.Flags().BoolVar(&d.filter.All, "all", false, "all of them, where nothing else says which are meant")
	console.FlagsOf(c).Count(&d.limit, "limit", 1, math.MaxInt, "at most this many; left out, all that match")
	c.Flags().BoolVarP(&d.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&d.dry, "dry-run", false, "only count what would be "+verb)
}

// settle checks the flags that every command has.
func (d *deadFlags) settle() (err error) {
	d.filter.Tenant, err = d.tenant.Filter()
	return err
}

var jobID = regexp.MustCompile(`^[1-9][0-9]{0,18}$`)

// settleChange checks the flags of what changes dead letters, together with the ids that stand as arguments.
func (d *deadFlags) settleChange(c *cobra.Command, ids []string) error {
	if err := d.settle(); err != nil {
		return err
	}
	if len(ids) > 1000 {
		return console.Usage("%s takes at most 1000 ids at a time", c.CommandPath())
	}
	for _, id := range ids {
		if !jobID.MatchString(id) {
			return console.Usage("%s: %q is no job's id", c.CommandPath(), id)
		}
	}
	if len(ids) > 0 {
		d.filter.IDs = ids
	}
	f := d.filter
	if named := f.Type != "" || f.Tenant != nil || f.ErrorGroup != "" || len(f.IDs) > 0 || !f.FailedBefore.IsZero(); !named && !f.All {
		return console.Usage("%s wants ids, a filter, or --all", c.CommandPath())
	}
	return nil
}

func deadListCommand(a *console.App) *cobra.Command {
	d := deadFlags{limit: 50}
	c := &cobra.Command{Use: "list", Short: "List dead letters, newest first", Args: console.Args(0, 0, "no arguments: filters are flags")}
	d.add(c)
	console.FlagsOf(c).Count(&d.limit, "limit", 0, math.MaxInt, "at most this many; 0 means all")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := d.settle(); err != nil {
			return err
		}
		api, err := a.Client()
		if err != nil {
			return err
		}
		return a.PrintJobs(api.DeadLetters(c.Context(), d.filter), d.limit)
	}
	return c
}

// groupColumns are those of dead letters by what went wrong.
var groupColumns = console.Columns("COUNT", "TYPE…12", "ERROR GROUP", "LAST FAILED?", "ERROR…12")

func deadGroupsCommand(a *console.App) *cobra.Command {
	d := deadFlags{limit: 20}
	c := &cobra.Command{Use: "groups", Short: "Count dead letters by what went wrong", Args: console.Args(0, 0, "no arguments: filters are flags"),
		Long: "Count dead letters by what went wrong, the largest group first. Those of one type whose last errors differ in numbers, ids, addresses and quoted parts only are one group. Looks at the newest 100,000 that the type, tenant or group leads to."}
	d.add(c)
	console.FlagsOf(c).Count(&d.limit, "limit", 1, 1000, "at most this many groups, up to 1000")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := d.settle(); err != nil {
			return err
		}
		api, err := a.Client()
		if err != nil {
			return err
		}
		groups, err := api.DeadGroups(c.Context(), d.filter, d.limit)
		if err != nil {
			return err
		}
		return printGroups(a, groups)
	}
	return c
}

func printGroups(a *console.App, groups client.DeadGroups) error {
	var rows [][]string
	for _, g := range groups.Items {
		if !a.JSON {
			rows = append(rows, []string{strconv.Itoa(g.Count), g.Type, g.ErrorGroup, console.ShowTime(g.LastFailed), g.Error})
		} else if err := a.PrintValue(g); err != nil {
			return err
		}
	}
	switch {
	case a.JSON:
	case len(rows) == 0:
		fmt.Fprintln(a.Out, "no dead letters")
	default:
		console.WriteTable(a.Out, a.Width(), groupColumns, rows)
		if groups.Capped {
			fmt.Fprintln(a.Out, "counted are the newest 100000; there may be more")
		}
	}
	return nil
}
