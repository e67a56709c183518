package lambda

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/belfry-dev/belfry/adapters/aws"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/adapters/postgres/roles"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
)

// Settings of the function that readies a deployment, beside those of all. Secrets are named by their ARN.
const (
	deployPrefix  = "BELFRY_DEPLOY_"
	loginSetting  = deployPrefix + "LOGIN_SECRET"           // who migrates: JSON with username and password, as RDS keeps it
	rolesSetting  = deployPrefix + "ROLES"                  // true makes a database role for each function
	tokenSetting  = deployPrefix + "ADMIN_TOKEN_SECRET"     // where a token of an admin is kept
	secretSetting = deployPrefix + "WEBHOOK_SECRETS_SECRET" // where the signing secrets of webhooks are kept
)

// The database roles of the functions. With rds_iam they sign in by tokens of AWS.
var functionRoles = roles.Options{
	Owner: "belfry_owner", Member: "rds_iam",
	Roles: []roles.Role{
		{Name: "belfry_api"},
		{Name: "belfry_tick", Owns: true},
		// Handlers are other people's code: they get no hold of the tokens of callers, nor of what callers were answered.
		{Name: "belfry_worker", Without: []string{"tokens", "idempotency_keys"}},
	},
}

// Deployment is what a function stands on that readies it for the others.
type Deployment struct {
	address    string // to sign in with as who migrates
	withRoles  bool
	AdminToken *aws.Secret // nil where the settings name none
	Webhooks   *aws.Secret // nil where the settings name none
}

// OpenDeployment reads the settings and the secret to sign in with. It does not touch the database.
func OpenDeployment(ctx context.Context) (*Deployment, error) {
	settings, err := readSettings(ctx)
	if err != nil {
		return nil, err
	}
	d := &Deployment{address: settings.DatabaseURL}
	if text := os.Getenv(rolesSetting); text != "" {
		if d.withRoles, err = strconv.ParseBool(text); err != nil {
			return nil, fmt.Errorf("%s: want true or false", rolesSetting)
		}
	}
	if arn := os.Getenv(loginSetting); arn != "" {
		text, err := readSecret(ctx, arn)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", loginSetting, err)
		}
		login, err := aws.ReadDatabaseLogin(text)
		if err == nil {
			d.address, err = login.URL(d.address)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", loginSetting, err)
		}
	}
	var errs error
	open := func(setting string) *aws.Secret {
		arn := os.Getenv(setting)
		if arn == "" {
			return nil
		}
		secret, err := aws.OpenSecret(ctx, arn)
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("%s: %w", setting, err))
		}
		return secret
	}
	d.AdminToken, d.Webhooks = open(tokenSetting), open(secretSetting)
	boot.QuietStandardLog(boot.NewLogger(settings, os.Stderr))
	return d, errs
}

// Alone calls do while no other deployment of this database is under way.
func (d *Deployment) Alone(ctx context.Context, do func(context.Context) error) error {
	return roles.Alone(ctx, d.address, do)
}

// Prepare makes the functions' roles and the one that owns the schema.
func (d *Deployment) Prepare(ctx context.Context) error {
	if !d.withRoles {
		return nil
	}
	return roles.Prepare(ctx, d.address, functionRoles)
}

// Migrate brings the schema up, as its owner.
func (d *Deployment) Migrate(ctx context.Context) error {
	address, err := d.ownerAddress()
	if err != nil {
		return err
	}
	return postgres.Migrate(ctx, address)
}

// Grant gives the functions' roles their rights.
func (d *Deployment) Grant(ctx context.Context) error {
	if !d.withRoles {
		return nil
	}
	return roles.Grant(ctx, d.address, functionRoles)
}

// Tokens opens the table of tokens.
func (d *Deployment) Tokens(ctx context.Context) (core.AccessStore, func() error, error) {
	address, err := d.ownerAddress()
	if err != nil {
		return nil, nil, err
	}
	store, err := postgres.Open(ctx, address, postgres.Options{PoolSize: 1})
	if err != nil {
		return nil, nil, err
	}
	return store, store.Close, nil
}

func (d *Deployment) ownerAddress() (string, error) {
	if !d.withRoles {
		return d.address, nil
	}
	return roles.OwnerURL(d.address, functionRoles.Owner)
}
