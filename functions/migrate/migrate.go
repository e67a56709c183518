package migrate

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// Database is what is readied.
type Database interface {
	// Alone calls do while no other call of Alone on this database does the same.
	Alone(ctx context.Context, do func(context.Context) error) error
	// Prepare makes what migrations need: the role that owns the schema.
	Prepare(ctx context.Context) error
	// Migrate brings the schema up to this program's version, and returns the names of the migrations that it applied.
	Migrate(ctx context.Context) ([]string, error)
	// Grant gives the functions their rights on the schema as it is now.
	Grant(ctx context.Context) error
	// Tokens opens the table of tokens; call what it returns beside when done.
	Tokens(ctx context.Context) (core.AccessStore, func() error, error)
}

// Vault keeps one secret outside the database.
type Vault interface {
	// Read returns the secret: "" while there is none.
	Read(ctx context.Context) (string, error)
	// Write replaces the secret.
	Write(ctx context.Context, text string) error
}

// Options are what the function is made of.
type Options struct {
	Database Database
	// AdminToken keeps the text of a token that may do everything. Nil means that none is made.
	AdminToken Vault
	// WebhookSecrets keeps the secrets that webhooks are signed with. Nil means that none are made.
	WebhookSecrets Vault
	// Random makes secrets. Nil means crypto/rand's Reader.
	Random io.Reader
}

// What a Request can ask to be made anew.
const (
	RotateAdminToken     = "admin_token"
	RotateWebhookSecrets = "webhook_secrets"
)

// Request is the event.
type Request struct {
	// Rotate names secrets to be made anew. The token that there was is revoked; of webhook secrets the one before stays
	// valid, as the second.
	Rotate []string `json:"rotate"`
}

// Report says what was done.
type Report struct {
	Migrated       bool     `json:"migrated"`                  // the schema is up to date
	Applied        []string `json:"applied,omitempty"`         // migrations that this run applied; none if there was nothing left to do
	AdminToken     string   `json:"admin_token,omitempty"`     // made, or kept; never the token
	WebhookSecrets string   `json:"webhook_secrets,omitempty"` // made, or kept; never the secrets
}

const (
	secretMade = "made"
	secretKept = "kept"
)

// tokenName names the token of Options.AdminToken among all.
const tokenName = "deployment"

// Run migrates, grants rights and makes the secrets that are missing, in this order, so that the version that is running goes on
// working if a step fails. It may be repeated, also after it was cut off, and run twice at once.
func Run(ctx context.Context, o Options, r Request) (Report, error) {
	for _, name := range r.Rotate {
		if name != RotateAdminToken && name != RotateWebhookSecrets {
			return Report{}, fmt.Errorf("rotate: %q: want %s or %s", name, RotateAdminToken, RotateWebhookSecrets)
		}
	}
	o.Random = cmp.Or[io.Reader](o.Random, rand.Reader)
	var report Report
	err := o.Database.Alone(ctx, func(ctx context.Context) (err error) {
		report, err = o.run(ctx, r)
		return err
	})
	return report, err
}

func (o Options) run(ctx context.Context, r Request) (Report, error) {
	if err := o.Database.Prepare(ctx); err != nil {
		return Report{}, err
	}
	applied, err := o.Database.Migrate(ctx)
	report := Report{Migrated: err == nil, Applied: applied}
	if err != nil {
		return report, err
	}
	if err := o.Database.Grant(ctx); err != nil {
		return report, err
	}
	if o.AdminToken != nil {
		if report.AdminToken, err = o.keepToken(ctx, slices.Contains(r.Rotate, RotateAdminToken)); err != nil {
			return report, fmt.Errorf("admin token: %w", err)
		}
	}
	if o.WebhookSecrets != nil {
		if report.WebhookSecrets, err = o.keepSecrets(ctx, slices.Contains(r.Rotate, RotateWebhookSecrets)); err != nil {
			return report, fmt.Errorf("webhook secrets: %w", err)
		}
	}
	return report, nil
}

// keepToken sees to it that the token in the vault is one of the database's: it makes one where there is none, and enters one
// that the database does not know, for it was moved to another.
func (o Options) keepToken(ctx context.Context, rotate bool) (did string, err error) {
	tokens, closeTokens, err := o.Database.Tokens(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, closeTokens()) }()
	text, err := o.AdminToken.Read(ctx)
	if err != nil {
		return "", err
	}
	id, hash, valid := core.ParseToken(text)
	if text != "" && !valid {
		return "", errors.New("what is kept is not a token of Belfry: empty the secret, and another token is made")
	}
	did = secretKept
	if text == "" || rotate {
		if text, id, hash, err = core.NewToken(o.Random); err != nil {
			return "", err
		}
		did = secretMade
	}
	// Kept in the database first: a token that is in the vault works.
	if err := enter(ctx, tokens, core.Token{ID: id, Name: tokenName, Hash: hash, Role: core.RoleAdmin}); err != nil {
		return "", err
	}
	if did == secretKept {
		return did, nil
	}
	if err := o.AdminToken.Write(ctx, text); err != nil {
		return "", err
	}
	return did, revokeOthers(ctx, tokens, id)
}

// enter keeps a token, if it is not kept already.
func enter(ctx context.Context, tokens core.AccessStore, t core.Token) error {
	kept, err := tokens.FindTokens(ctx, []string{t.ID})
	switch {
	case err != nil:
		return err
	case len(kept) == 1 && !kept[0].Matches(t.Hash):
		return errors.New("the database knows its id for another token: empty the secret, and another token is made")
	case len(kept) == 1:
		return nil
	}
	if _, err = tokens.CreateToken(ctx, t); errors.Is(err, core.ErrConflict) {
		return nil // by another call, just now
	}
	return err
}

// revokeOthers makes the tokens before this one worthless, those included that never reached the vault.
func revokeOthers(ctx context.Context, tokens core.AccessStore, id string) error {
	const page = 1000
	for after := ""; ; {
		list, err := tokens.ListTokens(ctx, after, page)
		if err != nil {
			return err
		}
		for i := range list {
			t := &list[i]
			if after = t.ID; t.Name != tokenName || t.ID == id {
				continue
			}
			if err := tokens.RevokeToken(ctx, t.ID); err != nil && !errors.Is(err, core.ErrNotFound) {
				return err
			}
		}
		if len(list) < page {
			return nil
		}
	}
}

// keepSecrets makes a signing secret where there is none, or, to rotate, puts one before the newest.
func (o Options) keepSecrets(ctx context.Context, rotate bool) (did string, err error) {
	text, err := o.WebhookSecrets.Read(ctx)
	if err != nil || text != "" && !rotate {
		return secretKept, err
	}
	drawn := make([]byte, 32)
	if _, err := io.ReadFull(o.Random, drawn); err != nil {
		return "", err
	}
	secrets := []string{"whsec_" + base64.StdEncoding.EncodeToString(drawn)}
	if newest, _, _ := strings.Cut(text, ","); newest != "" {
		secrets = append(secrets, strings.TrimSpace(newest))
	}
	return secretMade, o.WebhookSecrets.Write(ctx, strings.Join(secrets, ","))
}
