// Package jobtypes is belfry types: defaults for job types.
package jobtypes

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core"
)

// Command are the commands about job types.
func Command(a *console.App) *cobra.Command {
	return console.Group("types", "Defaults for a job type", typeListCommand(a), typeGetCommand(a), typePutCommand(a), typeDeleteCommand(a))
}

func typeListCommand(a *console.App) *cobra.Command {
	var limit int
	c := &cobra.Command{Use: "list", Short: "List definitions of types, by name", Args: console.Args(0, 0, "no arguments")}
	console.FlagsOf(c).Count(&limit, "limit", 0, math.MaxInt, "at most this many; 0 means all")
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		return console.Listing[*client.JobType]{
			Columns: console.Columns("TYPE…16", "TARGET…12", "TIMEOUT", "MAX ATTEMPTS", "BACKOFF…", "EXPIRES AFTER", "EXPECT WITHIN"), Row: typeRow,
			Document: (*client.JobType).Document, None: "no types are defined",
		}.Show(a, api.ListTypes(c.Context()), limit)
	}
	return c
}

func typeRow(t *client.JobType) []string {
	row := []string{t.Type, "", "", "", console.Joined(t.Backoff), "", ""}
	if t.Target != nil {
		row[1] = t.Target.URL
	}
	if t.Timeout != 0 {
		row[2] = t.Timeout.String()
	}
	if t.MaxAttempts != 0 {
		row[3] = strconv.Itoa(t.MaxAttempts)
	}
	if t.ExpiresAfter != 0 {
		row[5] = t.ExpiresAfter.String()
	}
	if t.ExpectWithin != 0 {
		row[6] = t.ExpectWithin.String()
	}
	return row
}

func typeGetCommand(a *console.App) *cobra.Command {
	return &cobra.Command{Use: "get TYPE", Short: "Look at a type's definition", Args: console.Args(1, 1, "a type"), RunE: func(c *cobra.Command, args []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		t, err := api.GetType(c.Context(), args[0])
		if err == nil {
			printType(a, t)
		}
		return err
	}}
}

// typeFlags are what types put takes.
type typeFlags struct {
	target  string
	headers []string
	define  client.JobType
}

func typePutCommand(a *console.App) *cobra.Command {
	var f typeFlags
	c := &cobra.Command{Use: "put TYPE", Short: "Define a type: the defaults of its jobs", Args: console.Args(1, 1, "a type"),
		Long: `Define a type: the defaults of its jobs. An earlier definition is replaced as a whole: what
no flag says is then defined by nobody. Jobs submitted from then on get it; the target also holds for those that wait.`,
		Example: "  belfry types put invoice.send --target https://hooks.example.com/belfry --timeout 90s --max-attempts 8 --backoff 10s,1m,10m"}
	flags := console.FlagsOf(c)
	flags.Text(&f.target, "target", "URL that the type's jobs are delivered to")
	flags.Texts(&f.headers, "header", "'Name: value' sent to the target; the value may be empty. May be given more than once. @file reads it from a file, which other users do not see")
	flags.Length(&f.define.Timeout, "timeout", core.MinTimeout, core.MaxTimeout, "of one attempt")
	flags.Count(&f.define.MaxAttempts, "max-attempts", 1, core.MaxAttempts, "attempts before a job fails for good")
	flags.Waits(&f.define.Backoff, "backoff", "waits between attempts, such as 30s,2m,1h")
	flags.Length(&f.define.ExpiresAfter, "expires-after", core.MinExpiresAfter, core.MaxExpiresAfter, "cancel jobs that have not started so long after they may")
	flags.Length(&f.define.ExpectWithin, "expect-within", core.MinExpectWithin, core.MaxExpectWithin, "raise an alert where no job of the type is done for so long")
	c.RunE = func(c *cobra.Command, args []string) error {
		t, err := f.definition(args[0])
		if err != nil {
			return err
		}
		api, err := a.Client()
		if err != nil {
			return err
		}
		kept, made, err := api.PutType(c.Context(), t)
		if err != nil {
			return err
		}
		if a.JSON {
			a.PrintDocument(kept.Document())
			return nil
		}
		fmt.Fprintf(a.Out, "type %s is defined%s\n", console.Clean(kept.Type), map[bool]string{true: "", false: "; its earlier definition is replaced"}[made])
		return nil
	}
	return c
}

// headerSpace is what HTTP ignores around a header's value, and what ends a line. Other spaces are the server's to refuse.
const headerSpace = " \t\r\n"

// definition is what the flags say. The rules for values are the server's.
func (f *typeFlags) definition(name string) (t client.JobType, err error) {
	t = f.define
	t.Type = name
	if f.target == "" {
		if len(f.headers) > 0 {
			return t, console.Usage("--header goes with --target")
		}
		return t, nil
	}
	t.Target = &client.Target{URL: f.target}
	for _, header := range f.headers {
		if file, ok := strings.CutPrefix(header, "@"); ok {
			text, err := console.ReadFile("--header", file)
			if err != nil {
				return t, err
			}
			if text, err = console.PlainText(text); err != nil {
				return t, console.Usage("--header %s", err)
			}
			header = strings.Trim(string(text), headerSpace)
		}
		name, value, ok := strings.Cut(header, ":")
		if !ok || name == "" || !utf8.ValidString(header) {
			return t, console.Usage("--header must be 'Name: value'") // what it is instead may be a secret
		}
		if _, twice := t.Target.Headers[name]; twice {
			return t, console.Usage("--header names %s twice", console.Clean(name))
		}
		if t.Target.Headers == nil {
			t.Target.Headers = map[string]string{}
		}
		t.Target.Headers[name] = strings.Trim(value, headerSpace)
	}
	return t, nil
}

func typeDeleteCommand(a *console.App) *cobra.Command {
	var yes, dry bool
	c := &cobra.Command{Use: "delete TYPE", Short: "Delete a type's definition; its jobs stay", Args: console.Args(1, 1, "a type"),
		Long: "Delete a type's definition. Its jobs stay; those that wait for the target it named wait on, until there is one again or a handler."}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what would be deleted")
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		t, err := api.GetType(c.Context(), args[0])
		if err != nil {
			return err
		}
		question := fmt.Sprintf("the definition of %s would be deleted", t.Type)
		if t.Target != nil {
			question += ", and its jobs no longer delivered to " + t.Target.URL
		}
		if dry {
			return a.PrintCount("would_delete", 1, console.Clean(question))
		}
		if err := a.Sure(yes, question); err != nil {
			return err
		}
		if err := api.DeleteType(c.Context(), args[0]); err != nil {
			return err
		}
		if a.JSON {
			return a.PrintValue(map[string]string{"deleted": args[0]})
		}
		fmt.Fprintf(a.Out, "the definition of %s is deleted\n", console.Clean(args[0]))
		return nil
	}
	return c
}

// printType writes all of a definition.
func printType(a *console.App, t *client.JobType) {
	if a.JSON {
		a.PrintDocument(t.Document())
		return
	}
	row := typeRow(t)
	a.Line("type", t.Type)
	a.Line("target", row[1])
	if t.Target != nil {
		for _, name := range slices.Sorted(maps.Keys(t.Target.Headers)) {
			a.Line("header", name+": "+t.Target.Headers[name])
		}
	}
	a.Line("timeout", row[2])
	a.Line("max attempts", row[3])
	a.Line("backoff", row[4])
	a.Line("expires after", row[5])
	a.Line("expect within", row[6])
	a.Line("created at", console.ShowTime(t.CreatedAt))
	a.Line("updated at", console.ShowTime(t.UpdatedAt))
}
