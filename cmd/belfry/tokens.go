package main

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
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storeclock"
)

// tokenKeeper is who keeps the tokens: the API, or the database itself, for the first one.
type tokenKeeper interface {
	CreateToken(ctx context.Context, t client.NewToken) (*client.Token, error)
	Tokens(ctx context.Context) iter.Seq2[*client.Token, error]
	RevokeToken(ctx context.Context, id string) error
}

// keeperFlag adds --database-url and has do called with the keeper that it, or the environment, names. An address of
// the API, or a profile, goes before a database of the environment.
func (a *app) keeperFlag(c *cobra.Command, do func(c *cobra.Command, args []string, k tokenKeeper) error) {
	flagsOf(c).text(&a.database, "database-url", "work on this PostgreSQL database itself, not over the API (BELFRY_DATABASE_URL)")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if err := a.chooseDatabase(); err != nil {
			return err
		}
		if a.database == "" {
			api, err := a.client()
			if err != nil {
				return err
			}
			return do(c, args, api)
		}
		store, err := postgres.Open(c.Context(), a.database, postgres.Options{PoolSize: 1})
		if err != nil {
			return a.badAddress(err)
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		settings, err := a.variable("BELFRY_TOKENS")
		if err != nil {
			return err
		}
		return do(c, args, tokenTable{store, storeclock.New(store).Now, settings != ""})
	}
}

// chooseDatabase takes the database of the environment where nothing names an API.
func (a *app) chooseDatabase() error {
	kept, err := a.variable("BELFRY_DATABASE_URL") // one that is empty is refused, whatever goes before it
	if err != nil || a.database != "" || a.address != "" || a.profile != "" {
		return err
	}
	for _, name := range []string{"BELFRY_URL", "BELFRY_PROFILE"} {
		if named, err := a.variable(name); err != nil || named != "" {
			return err
		}
	}
	a.database, a.databaseFrom = kept, "BELFRY_DATABASE_URL"
	return nil
}

func (a *app) tokenCreateCommand() *cobra.Command {
	var t client.NewToken
	var role string
	c := &cobra.Command{Use: "create", Short: "Make a token", Args: counted(0, 0, "no arguments: --name and --role say what"),
		Long: `Make a token and print it: on standard output, once. Nobody can show it again.

Over the API this needs an admin's token. The first one is made with --database-url, or over an API that is open on
loopback; from then on no call of the API goes without a token. So the first one has the role admin and no tenant, unless
BELFRY_TOKENS has tokens that may make others.`,
		Example: "  belfry tokens create --name operations --role admin --database-url \"$BELFRY_DATABASE_URL\"\n  belfry tokens create --name shop --role submit --tenant acme --expires 2160h"}
	f := flagsOf(c)
	f.text(&t.Name, "name", "what it is for (required)")
	f.text(&role, "role", "read: look; submit: also submit, cancel, retry and reschedule jobs; admin: everything (required)")
	f.text(&t.Tenant, "tenant", "the only tenant it sees and touches; left out, all")
	f.expiry(&t.ExpiresAt, a.now, "expires", "after this long (720h), or at this time (RFC 3339); left out, never")
	words(c, "role", "read", "submit", "admin")
	a.keeperFlag(c, func(c *cobra.Command, _ []string, k tokenKeeper) error {
		t.Role = client.Role(role)
		made, err := k.CreateToken(c.Context(), t)
		if err != nil {
			return err
		}
		if a.json {
			return a.printValue(made)
		}
		fmt.Fprintln(a.out, made.Text)
		fmt.Fprintf(a.errs, "token %s: role %s, %s, %s; it is shown this once\n", clean(made.ID), clean(string(made.Role)), clean(tenantWord(made.Tenant)), expiryWord(made.ExpiresAt))
		return nil
	})
	return c
}

// expiry adds a flag that is a duration from now, or an instant.
func (f flags) expiry(to *time.Time, now func() time.Time, name, usage string) {
	f.Var(&value{kind: "string", set: func(text string) (rule string) {
		if d, ok := core.ReadDuration(text); ok {
			if d <= 0 || d > core.MaxDelay {
				return "must lie ahead, and within 876000h (100 years)"
			}
			*to = now().Add(d)
			return ""
		}
		if *to, rule = readInstant(text); rule != "" {
			return `must be a duration such as "720h" or a time such as "2030-01-01T00:00:00Z"`
		}
		return ""
	}}, name, usage)
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
	return "expires " + showTime(t)
}

func (a *app) tokenListCommand() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List tokens: what they may do, never what proves them", Args: counted(0, 0, "no arguments")}
	a.keeperFlag(c, func(c *cobra.Command, _ []string, k tokenKeeper) error {
		return listing[*client.Token]{
			columns: columns("ID", "NAME…", "ROLE", "TENANT…", "CREATED AT", "EXPIRES AT"), none: "there are no tokens",
			row: func(t *client.Token) []string {
				expires := showTime(t.ExpiresAt)
				if !t.ExpiresAt.IsZero() && !a.now().Before(t.ExpiresAt) {
					expires += ", expired"
				}
				return []string{t.ID, t.Name, string(t.Role), t.Tenant, showTime(t.CreatedAt), expires}
			},
		}.show(a, k.Tokens(c.Context()), 0)
	})
	return c
}

func (a *app) tokenRevokeCommand() *cobra.Command {
	var yes, dry bool
	c := &cobra.Command{Use: "revoke ID...", Short: "Make tokens worthless", Args: counted(1, -1, "the ids of tokens"),
		Long: "Make tokens worthless. Processes that know one heed it for up to 5 seconds more."}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say which would be revoked")
	a.keeperFlag(c, func(c *cobra.Command, ids []string, k tokenKeeper) error {
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
			return a.firstOf(c.Context(), a.counted("would_revoke", len(known), question), missing)
		case len(known) == 0:
			return missing
		}
		if err := a.sure(yes, question); err != nil {
			a.reportAlso(c.Context(), missing)
			return err
		}
		err = a.eachOf(known, aboutToken, func(id string) error { return a.revoke(c.Context(), k, id) })
		return a.firstOf(c.Context(), missing, err)
	})
	return c
}

func (a *app) revoke(ctx context.Context, k tokenKeeper, id string) error {
	if err := k.RevokeToken(ctx, id); err != nil {
		return err
	}
	if a.json {
		return a.printValue(map[string]string{"revoked": id})
	}
	fmt.Fprintln(a.out, "revoked", clean(id))
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
	if err := core.CheckFirstToken(&token); err != nil && !t.others {
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
	if core.CheckFirstToken(&found[0]) == nil && !t.others {
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
