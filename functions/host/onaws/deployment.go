package onaws

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/belfry-dev/belfry/adapters/aws"
	"github.com/belfry-dev/belfry/adapters/postgres/roles"
)

// Settings of the function that readies a deployment, beside those of all. Secrets are named by their ARN.
const (
	deployPrefix  = "BELFRY_DEPLOY_"
	loginSetting  = deployPrefix + "LOGIN_SECRET"           // who migrates: JSON with username and password, as RDS keeps it
	rolesSetting  = deployPrefix + "ROLES"                  // true makes a database role for each function
	tokenSetting  = deployPrefix + "ADMIN_TOKEN_SECRET"     // where a token of an admin is kept
	secretSetting = deployPrefix + "WEBHOOK_SECRETS_SECRET" // where the signing secrets of webhooks are kept
)

// Deployment is what a function stands on that readies it for the others.
type Deployment struct {
	roles.Database
	AdminToken *aws.Secret // nil where the settings name none
	Webhooks   *aws.Secret // nil where the settings name none
}

// OpenDeployment reads the settings and the secret to sign in with. It does not touch the database.
func OpenDeployment(ctx context.Context) (*Deployment, error) {
	p := Function("", 0)
	settings, err := p.ReadSettings(ctx)
	if err != nil {
		return nil, err
	}
	d := &Deployment{Database: roles.Database{Address: settings.DatabaseURL}}
	if text := os.Getenv(rolesSetting); text != "" {
		with, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%s: want true or false", rolesSetting)
		}
		if with {
			programs := roles.Programs("belfry_")
			programs.Member = "rds_iam" // so that they sign in by tokens of AWS
			d.Roles = &programs
		}
	}
	if arn := os.Getenv(loginSetting); arn != "" {
		text, err := readSecret(ctx, arn)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", loginSetting, err)
		}
		login, err := aws.ReadDatabaseLogin(text)
		if err == nil {
			d.Address, err = login.URL(d.Address)
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
	p.NewLogger(settings)
	return d, errs
}
