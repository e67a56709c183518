package main

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/deadletters"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/doctor"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/jobs"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/jobtypes"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/migrate"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/profiles"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/schedules"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/stats"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/tokens"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/webhooks"
)

// terminal is the world of a real process.
func terminal() *console.App {
	return &console.App{
		In: os.Stdin, Out: os.Stdout, Errs: os.Stderr, Env: os.LookupEnv, Now: time.Now,
		Width: func() int {
			if columns, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
				return columns
			}
			return 0
		},
		Wonder: 2 * time.Second,
		Asks:   term.IsTerminal(int(os.Stdin.Fd())), Bars: term.IsTerminal(int(os.Stderr.Fd())),
	}
}

// run runs one command line and returns its exit code.
func run(ctx context.Context, a *console.App, args []string) int {
	tree := commandTree(a)
	tree.SetArgs(args)
	tree.SetIn(a.In)
	tree.SetOut(a.Out)
	tree.SetErr(a.Errs)
	tree.InitDefaultCompletionCmd()
	if completion, _, err := tree.Find([]string{"completion"}); err == nil {
		completion.Args, completion.RunE = console.NoCommand, console.NoCommand
	}
	err := tree.ExecuteContext(ctx)
	if err != nil {
		a.JSON = a.JSON || wantsJSON(args)
		a.Report(ctx, err)
	}
	return console.ExitCode(ctx, err)
}

// wantsJSON looks for the flag itself: where another is wrong the flags were not read so far.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

// commandTree is the whole command tree.
func commandTree(a *console.App) *cobra.Command {
	root := &cobra.Command{
		Use: "belfry", Short: "Belfry's command line: jobs, dead letters, migrations, and what is wrong",
		SilenceErrors: true, SilenceUsage: true, Version: console.Version(),
	}
	root.SetVersionTemplate("belfry {{.Version}}\n")
	f := console.Flags{FlagSet: root.PersistentFlags()}
	f.Text(&a.Address, "url", "address of the API (BELFRY_URL, else "+console.DefaultAddress+")")
	f.Text(&a.Token, "token", "bearer token (better: BELFRY_TOKEN, which other users of the machine do not see)")
	f.Text(&a.Profile, "profile", "server of this name, with its token (BELFRY_PROFILE); see belfry profiles")
	f.BoolVar(&a.JSON, "json", false, "print JSON, one document on a line")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return console.FlagFault(err) })
	root.AddCommand(
		jobs.Command(a), deadletters.Command(a), jobtypes.Command(a), tokens.Command(a), webhooks.Command(a), migrate.Command(a), profiles.Command(a),
		doctor.Command(a), stats.Command(a), stats.TopCommand(a), versionCommand(a),
	)
	root.AddCommand(schedules.Commands(a)...)
	root.Args = cobra.ArbitraryArgs
	root.RunE = func(c *cobra.Command, args []string) error {
		if a.JSON || len(args) > 0 {
			return console.NoCommand(c, args)
		}
		return c.Help() // by itself it is the question what there is
	}
	return root
}
