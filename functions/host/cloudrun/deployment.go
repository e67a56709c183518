package cloudrun

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/belfry-dev/belfry/adapters/gcp"
	"github.com/belfry-dev/belfry/adapters/postgres/roles"
	"github.com/belfry-dev/belfry/functions/boot"
)

// Settings of the job that readies a deployment, beside those of all.
const (
	membersSetting = "BELFRY_DEPLOY_MEMBERS"                // database users of the programs: api=USER,tick=USER,worker=USER, of which each may come again
	tokenSetting   = "BELFRY_DEPLOY_ADMIN_TOKEN_SECRET"     //nolint:gosec // where a token of an admin is kept
	secretSetting  = "BELFRY_DEPLOY_WEBHOOK_SECRETS_SECRET" //nolint:gosec // where the signing secrets of webhooks are kept
)

// Deployment is what the job stands on that readies it for the programs.
type Deployment struct {
	roles.Database
	AdminToken *gcp.Secret // nil where the settings name none
	Webhooks   *gcp.Secret // nil where the settings name none
	closers    []func() error
}

// OpenDeployment reads the settings. It does not touch the database. What it opened is closed by Close.
func OpenDeployment(ctx context.Context) (*Deployment, error) {
	p := Platform()
	settings, err := p.ReadSettings(ctx)
	if err != nil {
		return nil, err
	}
	p.NewLogger(settings)
	d := &Deployment{Database: roles.Database{Address: settings.DatabaseURL}}
	if err := d.open(ctx, settings); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Deployment) open(ctx context.Context, settings boot.Settings) (err error) {
	if d.Roles, err = readMembers(os.Getenv(membersSetting)); err != nil {
		return fmt.Errorf("%s: %w", membersSetting, err)
	}
	for setting, secret := range map[string]**gcp.Secret{tokenSetting: &d.AdminToken, secretSetting: &d.Webhooks} {
		if name := os.Getenv(setting); name != "" {
			if *secret, err = gcp.OpenSecret(ctx, name); err != nil {
				return fmt.Errorf("%s: %w", setting, err)
			}
		}
	}
	o, closeDatabase, err := databaseOptions(ctx, settings)
	if err != nil || o.Dial == nil {
		return err
	}
	d.closers = append(d.closers, closeDatabase)
	address, stop, err := gcp.Forward(ctx, o.Dial)
	if err != nil {
		return err
	}
	d.closers = append([]func() error{stop}, d.closers...)
	d.Address, err = through(d.Address, address)
	return err
}

// through is the database's address by way of a forwarder, which has encrypted what passes it already.
func through(address, forwarder string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("BELFRY_DATABASE_URL is not a URL (it is not shown: it may hold a password)")
	}
	u.Host = forwarder
	query := u.Query()
	query.Set("sslmode", "disable")
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// readMembers are the groups with their members: nil where the text names none.
func readMembers(text string) (*roles.Options, error) {
	if text == "" {
		return nil, nil
	}
	o := roles.Programs("belfry_")
	for entry := range strings.SplitSeq(text, ",") {
		program, user, ok := strings.Cut(entry, "=")
		found := false
		for i := range o.Roles {
			if o.Roles[i].Name == "belfry_"+program {
				o.Roles[i].Members, found = append(o.Roles[i].Members, user), true
			}
		}
		if !ok || !found || user == "" {
			return nil, fmt.Errorf("%q: want api=USER, tick=USER or worker=USER", entry)
		}
	}
	for _, role := range o.Roles {
		if len(role.Members) == 0 {
			return nil, fmt.Errorf("names no user for %s", strings.TrimPrefix(role.Name, "belfry_"))
		}
	}
	return &o, nil
}

// Close closes what OpenDeployment opened.
func (d *Deployment) Close() error {
	var err error
	for _, closes := range d.closers {
		err = errors.Join(err, closes())
	}
	return err
}
