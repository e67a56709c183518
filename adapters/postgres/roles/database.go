package roles

import (
	"context"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
)

// Database is a database that a deployment prepares.
type Database struct {
	Address string   // signs in as the role that migrates
	Roles   *Options // roles of the programs. Nil means that they sign in as the role that migrates
}

// Alone calls do while no other deployment of this database is under way.
func (d *Database) Alone(ctx context.Context, do func(context.Context) error) error {
	return Alone(ctx, d.Address, do)
}

// Prepare makes the programs' roles and the one that owns the schema.
func (d *Database) Prepare(ctx context.Context) error {
	if d.Roles == nil {
		return nil
	}
	return Prepare(ctx, d.Address, *d.Roles)
}

// Migrate brings the schema up, as its owner, and returns the names of the migrations that it applied.
func (d *Database) Migrate(ctx context.Context) ([]string, error) {
	address, err := d.ownerAddress()
	if err != nil {
		return nil, err
	}
	applied := []string{}
	migrator := postgres.Migrator{Applied: func(name string) { applied = append(applied, name) }}
	return applied, migrator.Up(ctx, address)
}

// Grant gives the programs' roles their rights.
func (d *Database) Grant(ctx context.Context) error {
	if d.Roles == nil {
		return nil
	}
	return Grant(ctx, d.Address, *d.Roles)
}

// Tokens opens the table of tokens. Call the returned function when done.
func (d *Database) Tokens(ctx context.Context) (core.AccessStore, func() error, error) {
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

func (d *Database) ownerAddress() (string, error) {
	if d.Roles == nil {
		return d.Address, nil
	}
	return OwnerURL(d.Address, d.Roles.Owner)
}

// Programs returns the roles of Belfry's programs: api, tick and worker, with prefix before their names. Handlers are other
// people's code, so the worker's role may not read callers' tokens or stored answers.
func Programs(prefix string) Options {
	return Options{Owner: prefix + "owner", Roles: []Role{
		{Name: prefix + "api"},
		{Name: prefix + "tick", Owns: true},
		{Name: prefix + "worker", Without: []string{"tokens", "idempotency_keys"}},
	}}
}
