package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/functions/boot"
)

// app is the program and the world it runs in.
type app struct {
	in        io.Reader
	out, errs io.Writer
	env       func(string) (string, bool)
	now       func() time.Time
	width     func() int    // columns of the terminal on out; 0 where out is none
	wonder    time.Duration // how long a job that is waited for may do nothing before it is said why
	asks      bool          // in is a terminal: questions can be answered
	bars      bool          // errs is a terminal: lines can be drawn over

	address, token, database string
	addressFrom, tokenFrom   string // the flag, variable or profile that holds each, for messages
	databaseFrom             string // likewise; "" is the flag
	profile                  string
	deployment               string // file with the outputs of Terraform
	settled                  bool
	json                     bool
	transport                http.RoundTripper // nil in production
}

// terminal is the world of a real process.
func terminal() *app {
	return &app{
		in: os.Stdin, out: os.Stdout, errs: os.Stderr, env: os.LookupEnv, now: time.Now,
		width: func() int {
			if columns, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
				return columns
			}
			return 0
		},
		wonder: 2 * time.Second,
		asks:   term.IsTerminal(int(os.Stdin.Fd())), bars: term.IsTerminal(int(os.Stderr.Fd())),
	}
}

// run runs one command line and returns its exit code.
func run(ctx context.Context, a *app, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.errs)
	err := root.ExecuteContext(ctx)
	if err != nil {
		a.json = a.json || wantsJSON(args)
		a.report(ctx, err)
	}
	return exitCode(ctx, err)
}

// wantsJSON looks for the flag itself: where another is wrong the flags were not read so far.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

const defaultAddress = "http://127.0.0.1:8080"

// root is the whole command tree.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "belfry", Short: "Belfry's command line: jobs, dead letters, migrations, and what is wrong",
		SilenceErrors: true, SilenceUsage: true, Version: version(),
	}
	root.SetVersionTemplate("belfry {{.Version}}\n")
	f := flags{root.PersistentFlags()}
	f.text(&a.address, "url", "address of the API (BELFRY_URL, else "+defaultAddress+")")
	f.text(&a.token, "token", "bearer token (better: BELFRY_TOKEN, which other users of the machine do not see)")
	f.text(&a.profile, "profile", "server of this name, with its token (BELFRY_PROFILE); see belfry profiles")
	f.BoolVar(&a.json, "json", false, "print JSON, one document on a line")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagFault(err) })
	root.AddCommand(
		group("jobs", "Submit, look at and change jobs", a.submitCommand(), a.getCommand(), a.listCommand(), a.cancelCommand(), a.retryCommand(), a.rescheduleCommand(), a.waitCommand()),
		group("dead-letters", "Jobs that failed for good", a.deadListCommand(), a.deadGroupsCommand(), a.redriveCommand(), a.discardCommand()),
		group("types", "Defaults for a job type", a.typeListCommand(), a.typeGetCommand(), a.typePutCommand(), a.typeDeleteCommand()),
		group("tokens", "Who may call the API", a.tokenCreateCommand(), a.tokenListCommand(), a.tokenRevokeCommand()),
		group("webhooks", "What receivers of webhooks need", a.webhookSecretCommand()),
		group("migrate", "The database's schema", a.migrateUpCommand(), a.migrateStatusCommand()),
		a.profileCommands(), a.doctorCommand(), a.statsCommand(), a.topCommand(), a.versionCommand(),
	)
	root.AddCommand(a.scheduleCommands()...)
	root.Args = cobra.ArbitraryArgs
	root.RunE = func(c *cobra.Command, args []string) error {
		if a.json || len(args) > 0 {
			return noCommand(c, args)
		}
		return c.Help() // by itself it is the question what there is
	}
	return root
}

// group is a command that only has others below it.
func group(name, short string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: name, Short: short, Args: noCommand, RunE: noCommand}
	g.AddCommand(commands...)
	return g
}

// noCommand is what a group says when it is called by itself or with a name it does not know.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s has no command %q; %s --help lists those it has", c.CommandPath(), args[0], c.CommandPath())
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usage("%s wants a command: %s", c.CommandPath(), strings.Join(names, ", "))
}

// client is the API at the other end.
func (a *app) client() (*client.Client, error) {
	return a.clientThat(client.Retry{Tries: 4, MaxWait: 10 * time.Second})
}

// clientThat is client with other patience.
func (a *app) clientThat(retries client.Retry) (*client.Client, error) {
	if err := a.settle(); err != nil {
		return nil, err
	}
	o := client.Options{Token: a.token, UserAgent: "belfry-cli/" + version(), Retry: retries}
	if a.transport != nil {
		o.HTTPClient = &http.Client{Transport: a.transport}
		o.Retry.MinWait = time.Millisecond
	}
	if err := endpointFault(a.address, a.addressFrom, a.token, a.tokenFrom); err != nil {
		return nil, err
	}
	return client.New(a.address, o)
}

// endpointFault says what is wrong with an address or a token, and names where it comes from; nil where nothing is.
func endpointFault(address, addressFrom, token, tokenFrom string) error {
	for _, part := range []struct{ from, address, token string }{{addressFrom, address, ""}, {tokenFrom, defaultAddress, token}} {
		if _, err := client.New(part.address, client.Options{Token: part.token}); err != nil {
			return usage("%s: %s", part.from, strings.TrimPrefix(err.Error(), "client: "))
		}
	}
	return nil
}

// databaseFlag adds --database-url.
func (a *app) databaseFlag(c *cobra.Command, required bool) {
	flagsOf(c).text(&a.database, "database-url", "PostgreSQL address (BELFRY_DATABASE_URL)")
	before := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		kept, err := a.variable("BELFRY_DATABASE_URL")
		if err != nil {
			return err
		}
		if a.database == "" {
			a.database, a.databaseFrom = kept, "BELFRY_DATABASE_URL"
		}
		if a.database == "" && required {
			return usage("%s wants --database-url or BELFRY_DATABASE_URL", c.CommandPath())
		}
		return a.badAddress(before(c, args))
	}
}

// badAddress names the flag or the variable that an error about the database's address is about.
func (a *app) badAddress(err error) error {
	if errors.Is(err, postgres.ErrAddress) {
		return usage("%s: %s", cmp.Or(a.databaseFrom, "--database-url"), postgres.ErrAddress)
	}
	return err
}

// variable reads a variable of the environment; "" means that it is not set.
func (a *app) variable(name string) (string, error) {
	text, err := boot.Variable(a.env, name)
	if err != nil {
		return "", usage("%s", err)
	}
	return text, nil
}

// counted checks how many arguments stand, and that none is empty; most below 0 means any number.
func counted(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		for i, arg := range args {
			switch {
			case arg == "":
				return usage("%s: argument %d is empty; it wants %s", c.CommandPath(), i+1, what)
			case !utf8.ValidString(arg):
				return usage("%s: argument %d must be valid UTF-8", c.CommandPath(), i+1)
			}
		}
		if len(args) < least || most >= 0 && len(args) > most {
			return usage("%s wants %s; it got %d argument(s)", c.CommandPath(), what, len(args))
		}
		return nil
	}
}

// report says on the error stream why a command failed.
func (a *app) report(ctx context.Context, err error) {
	var quiet *quietError
	if errors.As(err, &quiet) {
		return
	}
	if a.json {
		a.printError(ctx, err)
		return
	}
	var fields client.FieldErrors
	if errors.As(err, &fields) && len(fields) > 1 {
		fmt.Fprintln(a.errs, "belfry: refused:")
		for _, f := range fields {
			fmt.Fprintf(a.errs, "  %s: %s\n", clean(f.Field), clean(f.Rule))
		}
		return
	}
	fmt.Fprintln(a.errs, "belfry:", clean(a.explain(err)))
}

// explain is plain, and of a path that the server does not have that the address may have brought it.
func (a *app) explain(err error) string {
	text := plain(err)
	if p := (*client.Problem)(nil); errors.As(err, &p) && strings.HasPrefix(p.Detail, "there is nothing at this path") {
		if below := a.belowPath(); below != "" {
			text += "; " + below
		}
	}
	return text
}

// belowPath says that the address of the API has a path, and who says so; "" where it has none.
func (a *app) belowPath() string {
	u, err := url.Parse(a.address)
	if err != nil || u.Path == "" {
		return ""
	}
	return fmt.Sprintf("calls were made below %s, which %s says: give it the server's address alone, such as %s://%s", u.Path, a.addressFrom, u.Scheme, u.Host)
}

// plain is what a person wants to know: of an answer that is an error what it says, not which call it answers.
func plain(err error) string {
	if one := (*jobError)(nil); errors.As(err, &one) && err.Error() == one.Error() {
		return "job " + one.id + ": " + plain(one.err)
	}
	text := err.Error()
	if p := (*client.Problem)(nil); errors.As(err, &p) && text == p.Error() {
		text = p.Detail
	}
	if errors.Is(err, client.ErrUnauthorized) {
		text += "; BELFRY_TOKEN, --token or a profile gives one"
	}
	if op := (*net.OpError)(nil); errors.Is(err, client.ErrUnreachable) && errors.As(err, &op) && op.Op == "dial" {
		text += "; is Belfry running there? --url, BELFRY_URL or a profile says where it is"
	}
	return text
}

// jobError is an error about one job, which may be one of several.
type jobError struct {
	id  string
	err error
}

func (e *jobError) Error() string { return "job " + e.id + ": " + e.err.Error() }
func (e *jobError) Unwrap() error { return e.err }

// aboutJob names the job that an error is about; nil stays nil.
func aboutJob(id string, err error) error {
	if err == nil {
		return nil
	}
	return &jobError{id, err}
}
