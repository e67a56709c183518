// Package tokens is belfry tokens: who may call the API.
package tokens

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storeclock"
)

// Command are the commands about tokens.
func Command(a *console.App) *cobra.Command {
	return console.Group("tokens", "Who may call the API", tokenCreateCommand(a), tokenListCommand(a), tokenRevokeCommand(a))
}

// tokenKeeper is who keeps the tokens: the API, or the database itself, for the first one.
type tokenKeeper interface {
	CreateToken(ctx context.Context, t client.NewToken) (*client.Token, error)
	Tokens(ctx context.Context) iter.Seq2[*client.Token, error]
	RevokeToken(ctx context.Context, id string) error
}

// keeperFlag adds --database-url and has do called with the keeper that it, or the environment, names. An address of
// the API, or a profile, goes before a database of the environment.
func keeperFlag(a *console.App, c *cobra.Command, do func(c *cobra.Command, args []string, k tokenKeeper) error) {
	console.FlagsOf(c).Text(&a.Database, "database-url", "work on this PostgreSQL database itself, not over the API (BELFRY_DATABASE_URL)")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if err := chooseDatabase(a); err != nil {
			return err
		}
		if a.Database == "" {
			api, err := a.Client()
			if err != nil {
				return err
			}
			return do(c, args, api)
		}
		store, err := postgres.Open(c.Context(), a.Database, postgres.Options{PoolSize: 1})
		if err != nil {
			return a.BadAddress(err)
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		settings, err := a.Variable("BELFRY_TOKENS")
		if err != nil {
			return err
		}
		return do(c, args, tokenTable{store, storeclock.New(store).Now, settings != ""})
	}
}

// chooseDatabase takes the database of the environment where nothing names an API.
func chooseDatabase(a *console.App) error {
	kept, err := a.Variable("BELFRY_DATABASE_URL") // one that is empty is refused, whatever goes before it
	if err != nil || a.Database != "" || a.Address != "" || a.Profile != "" {
		return err
	}
	for _, name := range []string{"BELFRY_URL", "BELFRY_PROFILE"} {
		if named, err := a.Variable(name); err != nil || named != "" {
			return err
		}
	}
	a.Database, a.DatabaseFrom = kept, "BELFRY_DATABASE_URL"
	return nil
}

func tokenCreateCommand(a *console.App) *cobra.Command {
	var t client.NewToken
	var role string
	c := &cobra.Command{Use: "create", Short: "Make a token", Args: console.Args(0, 0, "no arguments: --name and --role say what"),
		Long: `Make a token and print it: on standard output, once. Nobody can show it again.

Over the API this needs an admin's token. The first one is made with --database-url, or over an API that is open on
loopback; from then on no call of the API goes without a token. So the first one has the role admin and no tenant, unless
BELFRY_TOKENS has tokens that may make others.`,
		Example: "  belfry tokens create --name operations --role admin --database-url \"$BELFRY_DATABASE_URL\"\n  belfry tokens create --name shop --role submit --tenant acme --expires 2160h"}
	f := console.FlagsOf(c)
	f.Text(&t.Name, "name", "what it is for (required)")
	f.Text(&role, "role", "read: look; submit: also submit, cancel, retry and reschedule jobs; admin: everything (required)")
	f.Text(&t.Tenant, "tenant", "the only tenant it sees and touches; left out, all")
	f.Expiry(&t.ExpiresAt, a.Now, "expires", "after this long (720h), or at this time (RFC 3339); left out, never")
	console.Words(c, "role", "read", "submit", "admin")
	keeperFlag(a, c, func(c *cobra.Command, _ []string, k tokenKeeper) error {
		t.Role = client.Role(role)
		made, err := k.CreateToken(c.Context(), t)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.PrintValue(made)
		}
		fmt.Fprintln(a.Out, made.Text)
		fmt.Fprintf(a.Errs, "token %s: role %s, %s, %s; it is shown this once\n", console.Clean(made.ID), console.Clean(string(made.Role)), console.Clean(tenantWord(made.Tenant)), expiryWord(made.ExpiresAt))
		return nil
	})
	return c
}

func tenantWord(tenant string) string {
	if tenant == "" {
		return "all tenants"
	}
	return "tenant " + tenant
}

func expiryWord(t time.Time) string {
	if t.IsZero() {
		return "never expires"
	}
	return "expires " + console.ShowTime(t)
}

func tokenListCommand(a *console.App) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List tokens: what they may do, never what proves them", Args: console.Args(0, 0, "no arguments")}
	keeperFlag(a, c, func(c *cobra.Command, _ []string, k tokenKeeper) error {
		return console.Listing[*client.Token]{
			Columns: console.Columns("ID", "NAME…", "ROLE", "TENANT…", "CREATED AT", "EXPIRES AT"), None: "there are no tokens",
			Row: func(t *client.Token) []string {
				expires := console.ShowTime(t.ExpiresAt)
				if !t.ExpiresAt.IsZero() && !a.Now().Before(t.ExpiresAt) {
					expires += ", expired"
				}
				return []string{t.ID, t.Name, string(t.Role), t.Tenant, console.ShowTime(t.CreatedAt), expires}
			},
		}.Show(a, k.Tokens(c.Context()), 0)
	})
	return c
}

func tokenRevokeCommand(a *console.App) *cobra.Command {
	var yes, dry bool
	c := &cobra.Command{Use: "revoke ID...", Short: "Make tokens worthless", Args: console.Args(1, -1, "the ids of tokens"),
		Long: "Make tokens worthless. Processes that know one heed it for up to 5 seconds more."}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say which would be revoked")
	keeperFlag(a, c, func(c *cobra.Command, ids []string, k tokenKeeper) error {
		known, words, missing, err := tokensOf(c.Context(), k, ids)
		if err != nil {
			return err
		}
		question := "revoked would be " + strings.Join(words, "; ")
		if len(known) == 0 {
			question = "no token would be revoked"
		}
		switch {
		case dry:
			return a.FirstOf(c.Context(), a.PrintCount("would_revoke", len(known), question), missing)
		case len(known) == 0:
			return missing
		}
		if err := a.Sure(yes, question); err != nil {
			a.ReportAlso(c.Context(), missing)
			return err
		}
		err = a.EachOf(known, aboutToken, func(id string) error { return revoke(c.Context(), a, k, id) })
		return a.FirstOf(c.Context(), missing, err)
	})
	return c
}

func revoke(ctx context.Context, a *console.App, k tokenKeeper, id string) error {
	if err := k.RevokeToken(ctx, id); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintValue(map[string]string{"revoked": id})
	}
	fmt.Fprintln(a.Out, "revoked", console.Clean(id))
	return nil
}

// aboutToken names the token that an error is about; nil stays nil.
func aboutToken(id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("token %s: %w", id, err)
}

// tokensOf finds the tokens with these ids, each once, and describes them in words. missing names the ids that no token has.
func tokensOf(ctx context.Context, k tokenKeeper, ids []string) (known, words []string, missing, err error) {
	described := map[string]string{}
	for t, err := range k.Tokens(ctx) {
		if err != nil {
			return nil, nil, nil, err
		}
		described[t.ID] = fmt.Sprintf("%s (%s, role %s, %s)", t.ID, t.Name, t.Role, tenantWord(t.Tenant))
	}
	var unknown []string
	for _, id := range ids {
		switch {
		case slices.Contains(known, id) || slices.Contains(unknown, id):
		case described[id] == "":
			unknown = append(unknown, id)
		default:
			known, words = append(known, id), append(words, described[id])
		}
	}
	if len(unknown) > 0 {
		missing = fmt.Errorf("%w: there is no token with the id %s", client.ErrNotFound, strings.Join(unknown, ", "))
	}
	return known, words, missing, nil
}

// tokenTable keeps tokens in the database, by the same rules as the API.
type tokenTable struct {
	store  core.AccessStore
	now    func() time.Time
	others bool // there are tokens beside those in the database: the setting BELFRY_TOKENS
}

// withoutAdmin reports whether no token of the database may make others.
func (t tokenTable) withoutAdmin(ctx context.Context) (bool, error) {
	some, err := t.store.ListTokens(ctx, "", 1)
	if err != nil || len(some) == 0 {
		return true, err
	}
	return core.LastAdmin(ctx, t.store, "", t.now())
}

func (t tokenTable) CreateToken(ctx context.Context, asked client.NewToken) (*client.Token, error) {
	token := core.Token{Name: asked.Name, Role: core.Role(asked.Role), Tenant: asked.Tenant, ExpiresAt: asked.ExpiresAt}
	if err := core.CheckToken(&token, t.now()); err != nil {
		return nil, err
	}
	if err := core.CheckFirstToken(&token, t.now()); err != nil && !t.others {
		alone, lookErr := t.withoutAdmin(ctx)
		switch {
		case lookErr != nil:
			return nil, lookErr
		case alone:
			return nil, err
		}
	}
	text, id, hash, err := core.NewToken(rand.Reader)
	if err != nil {
		return nil, err
	}
	token.ID, token.Hash = id, hash
	kept, err := t.store.CreateToken(ctx, token)
	if err != nil {
		return nil, err
	}
	made := tokenShown(&kept)
	made.Text = text
	return made, nil
}

func (t tokenTable) Tokens(ctx context.Context) iter.Seq2[*client.Token, error] {
	const page = 1000
	return func(yield func(*client.Token, error) bool) {
		for after := ""; ; {
			tokens, err := t.store.ListTokens(ctx, after, page)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range tokens {
				if !yield(tokenShown(&tokens[i]), nil) {
					return
				}
			}
			if len(tokens) < page {
				return
			}
			after = tokens[page-1].ID
		}
	}
}

func (t tokenTable) RevokeToken(ctx context.Context, id string) error {
	found, err := t.store.FindTokens(ctx, []string{id})
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return core.ErrNotFound
	}
	if found[0].Administers() && !t.others {
		switch last, err := core.LastAdmin(ctx, t.store, id, t.now()); {
		case err != nil:
			return err
		case last:
			return fmt.Errorf("%w: token %s is the last that can make tokens, and others are left: revoke those first, make another one of role admin, or set BELFRY_TOKENS", client.ErrConflict, id)
		}
	}
	return t.store.RevokeToken(ctx, id)
}

func tokenShown(t *core.Token) *client.Token {
	return &client.Token{ID: t.ID, Name: t.Name, Role: client.Role(t.Role), Tenant: t.Tenant, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt}
}
