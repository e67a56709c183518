// Package console is what all commands share: the program and its world, the API at the other end, flags, exit codes and errors, and
// how lists, tables and single things are printed.
//
//	app.go       App, and its API and database; profile.go the servers that it knows by name
//	flags.go     kinds of flags, each with its rule; input.go texts from files and standard input
//	exit.go      exit codes; report.go what is said of an error; each.go a command about several things
//	show.go      jobs and times; list.go, table.go and text.go lists, columns, and texts that are safe on a terminal
//	confirm.go   questions before what cannot be undone; progress.go how far a command is
package console

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/functions/boot"
)

// App is the program and the world it runs in.
type App struct {
	In        io.Reader
	Out, Errs io.Writer
	Env       func(string) (string, bool)
	Now       func() time.Time
	Width     func() int    // columns of the terminal on out; 0 where out is none
	Wonder    time.Duration // how long a job that is waited for may do nothing before it is said why
	Asks      bool          // in is a terminal: questions can be answered
	Bars      bool          // errs is a terminal: lines can be drawn over

	Address, Token, Database string
	addressFrom, tokenFrom   string // the flag, variable or profile that holds each, for messages
	DatabaseFrom             string // likewise; "" is the flag
	Profile                  string
	Deployment               string // file with the outputs of Terraform
	settled                  bool
	JSON                     bool
	Transport                http.RoundTripper // nil in production
}

// DefaultAddress is the address of the API where nothing says another.
const DefaultAddress = "http://127.0.0.1:8080"

// Group is a command that only has others below it.
func Group(name, short string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: name, Short: short, Args: NoCommand, RunE: NoCommand}
	g.AddCommand(commands...)
	return g
}

// NoCommand is what a group says when it is called by itself or with a name it does not know.
func NoCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usage("%s has no command %q; %s --help lists those it has", c.CommandPath(), args[0], c.CommandPath())
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return Usage("%s wants a command: %s", c.CommandPath(), strings.Join(names, ", "))
}

// Client is the API at the other end.
func (a *App) Client() (*client.Client, error) {
	return a.ClientThat(client.Retry{Tries: 4, MaxWait: 10 * time.Second})
}

// ClientThat is client with other patience.
func (a *App) ClientThat(retries client.Retry) (*client.Client, error) {
	if err := a.settle(); err != nil {
		return nil, err
	}
	o := client.Options{Token: a.Token, UserAgent: "belfry-cli/" + Version(), Retry: retries}
	if a.Transport != nil {
		o.HTTPClient = &http.Client{Transport: a.Transport}
		o.Retry.MinWait = time.Millisecond
	}
	if err := EndpointFault(a.Address, a.addressFrom, a.Token, a.tokenFrom); err != nil {
		return nil, err
	}
	return client.New(a.Address, o)
}

// EndpointFault says what is wrong with an address or a token, and names where it comes from; nil where nothing is.
func EndpointFault(address, addressFrom, token, tokenFrom string) error {
	for _, part := range []struct{ from, address, token string }{{addressFrom, address, ""}, {tokenFrom, DefaultAddress, token}} {
		if _, err := client.New(part.address, client.Options{Token: part.token}); err != nil {
			return Usage("%s: %s", part.from, strings.TrimPrefix(err.Error(), "client: "))
		}
	}
	return nil
}

// DatabaseFlag adds --database-url.
func (a *App) DatabaseFlag(c *cobra.Command, required bool) {
	FlagsOf(c).Text(&a.Database, "database-url", "PostgreSQL address (BELFRY_DATABASE_URL)")
	before := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		kept, err := a.Variable("BELFRY_DATABASE_URL")
		if err != nil {
			return err
		}
		if a.Database == "" {
			a.Database, a.DatabaseFrom = kept, "BELFRY_DATABASE_URL"
		}
		if a.Database == "" && required {
			return Usage("%s wants --database-url or BELFRY_DATABASE_URL", c.CommandPath())
		}
		return a.BadAddress(before(c, args))
	}
}

// BadAddress names the flag or the variable that an error about the database's address is about.
func (a *App) BadAddress(err error) error {
	if errors.Is(err, postgres.ErrAddress) {
		return Usage("%s: %s", cmp.Or(a.DatabaseFrom, "--database-url"), postgres.ErrAddress)
	}
	return err
}

// Variable reads a variable of the environment; "" means that it is not set.
func (a *App) Variable(name string) (string, error) {
	text, err := boot.Variable(a.Env, name)
	if err != nil {
		return "", Usage("%s", err)
	}
	return text, nil
}

// Version is the version of this program.
func Version() string { return boot.Version() }

// DialTimeout bounds a question beside a command's own.
const DialTimeout = 5 * time.Second
