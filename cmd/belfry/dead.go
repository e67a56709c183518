package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
)

// deadFlags say which dead letters are meant.
type deadFlags struct {
	filter       client.DeadFilter
	tenant, when string
	limit        int
	yes, dry     bool

	rate  float64 // of redrive, as are the others
	from  string
	after string
}

func (d *deadFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&d.filter.Type, "type", "", "of this type")
	c.Flags().StringVar(&d.tenant, "tenant", "", `of this tenant; "" means those without one`)
	c.Flags().StringVar(&d.filter.ErrorGroup, "error-group", "", "that failed alike; belfry dead-letters groups shows them")
	c.Flags().StringVar(&d.when, "failed-before", "", "that failed before this time (RFC 3339)")
}

func (d *deadFlags) addChange(c *cobra.Command, verb string) {
	d.add(c)
	c.Flags().BoolVar(&d.filter.All, "all", false, "all of them, where nothing else says which are meant")
	c.Flags().IntVar(&d.limit, "limit", 0, "at most this many; 0 means all that match")
	c.Flags().BoolVarP(&d.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&d.dry, "dry-run", false, "only count what would be "+verb)
}

// settle checks the flags that every command has.
func (d *deadFlags) settle(c *cobra.Command) (err error) {
	if c.Flags().Changed("tenant") {
		d.filter.Tenant = &d.tenant
	}
	if d.limit < 0 {
		return usage("--limit must not be negative")
	}
	d.filter.FailedBefore, err = instant("--failed-before", d.when)
	return err
}

// settleChange checks the flags of what changes dead letters, together with the ids that stand as arguments.
func (d *deadFlags) settleChange(c *cobra.Command, ids []string) error {
	if err := d.settle(c); err != nil {
		return err
	}
	if len(ids) > 1000 {
		return usage("%s takes at most 1000 ids at a time", c.CommandPath())
	}
	if len(ids) > 0 {
		d.filter.IDs = ids
	}
	f := d.filter
	if named := f.Type != "" || f.Tenant != nil || f.ErrorGroup != "" || len(f.IDs) > 0 || !f.FailedBefore.IsZero(); !named && !f.All {
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
		if err := d.settle(c); err != nil {
			return err
		}
		api, err := a.client()
		if err != nil {
			return err
		}
		return a.printJobs(api.DeadLetters(c.Context(), d.filter), d.limit)
	}
	return c
}

// groupColumns are those of dead letters by what went wrong.
var groupColumns = columns("COUNT", "TYPE…", "ERROR GROUP", "LAST FAILED", "ERROR…")

func (a *app) deadGroupsCommand() *cobra.Command {
	var d deadFlags
	c := &cobra.Command{Use: "groups", Short: "Count dead letters by what went wrong", Args: counted(0, 0, "no arguments: filters are flags"),
		Long: "Count dead letters by what went wrong, the largest group first. Those of one type whose last errors differ in numbers, ids, addresses and quoted parts only are one group. Looks at the newest 100,000 that the type, tenant or group leads to."}
	d.add(c)
	c.Flags().IntVar(&d.limit, "limit", 20, "at most this many groups, up to 1000")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := d.settle(c); err != nil {
			return err
		}
		api, err := a.client()
		if err != nil {
			return err
		}
		groups, err := api.DeadGroups(c.Context(), d.filter, d.limit)
		if err != nil {
			return err
		}
		return a.printGroups(groups)
	}
	return c
}

func (a *app) printGroups(groups client.DeadGroups) error {
	var rows [][]string
	for _, g := range groups.Items {
		if !a.json {
			rows = append(rows, []string{strconv.Itoa(g.Count), g.Type, g.ErrorGroup, showTime(g.LastFailed), g.Error})
		} else if err := a.printValue(g); err != nil {
			return err
		}
	}
	switch {
	case a.json:
	case len(rows) == 0:
		fmt.Fprintln(a.out, "no dead letters")
	default:
		writeTable(a.out, a.width(), groupColumns, rows)
		if groups.Capped {
			fmt.Fprintln(a.out, "counted are the newest 100000; there may be more")
		}
	}
	return nil
}
