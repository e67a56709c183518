package roles

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Role is the database role of one function.
type Role struct {
	Name string
	// Owns makes its sessions act as the owner of the schema: the tick makes and drops partitions.
	Owns bool
	// Members are existing roles of the server that get its rights; then nobody signs in as the role itself. Members of a
	// role that owns act as the owner through their address: see OwnerURL.
	Members []string
	// Without are the tables of the schema that it may not use. It may read and write all others.
	Without []string
}

// Options say which roles there are.
type Options struct {
	// Owner owns the schema. Nobody signs in as it.
	Owner string
	Roles []Role
	// Member is a role of the server that those roles become members of, such as rds_iam, which lets them sign in with
	// tokens. Where the server has no such role this is left out. Empty means none.
	Member string
}

//go:embed sql/*.sql
var files embed.FS

// rolesLock is the advisory lock, held for the transaction, under which roles change: PostgreSQL refuses two changes of
// one role at once.
const rolesLock = 0x62656c667279726f // "belfryro"

// Prepare makes missing roles, lets the role of address act as the owner, and gives the owner a schema that another role
// made, such as a restored one. It is safe to repeat, and to run from several processes at once. Migrations run after it, as
// the owner: see OwnerURL.
func Prepare(ctx context.Context, address string, o Options) error {
	return change(ctx, "prepare roles", address, o, func(ctx context.Context, tx pgx.Tx) error {
		if err := makeRole(ctx, tx, "make_group", o.Owner); err != nil {
			return err
		}
		for _, role := range o.Roles {
			statement := "make_role"
			if len(role.Members) > 0 {
				statement = "make_group"
			}
			if err := makeRole(ctx, tx, statement, role.Name); err != nil {
				return err
			}
		}
		if err := execute(ctx, tx, "let_own", "owner", o.Owner); err != nil {
			return err
		}
		for _, role := range o.Roles {
			if err := o.prepareRole(ctx, tx, role); err != nil {
				return err
			}
		}
		return execute(ctx, tx, "adopt_schema", "owner", o.Owner)
	})
}

func (o Options) prepareRole(ctx context.Context, tx pgx.Tx, role Role) error {
	if len(role.Members) > 0 {
		return o.joinMembers(ctx, tx, role)
	}
	if o.Member != "" {
		there, err := exists(ctx, tx, o.Member)
		if err == nil && there {
			err = execute(ctx, tx, "join", "group", o.Member, "role", role.Name)
		}
		if err != nil {
			return err
		}
	}
	if !role.Owns {
		return execute(ctx, tx, "act_as_itself", "role", role.Name)
	}
	if err := execute(ctx, tx, "join", "group", o.Owner, "role", role.Name); err != nil {
		return err
	}
	return execute(ctx, tx, "act_as_owner", "owner", o.Owner, "role", role.Name)
}

// joinMembers makes roles that others have made members. It changes nothing else of them, because the role that migrates may
// not.
func (o Options) joinMembers(ctx context.Context, tx pgx.Tx, role Role) error {
	group := role.Name
	if role.Owns {
		group = o.Owner
	}
	for _, member := range role.Members {
		there, err := exists(ctx, tx, member)
		if err == nil && !there {
			err = fmt.Errorf("there is no role %q to be a member of %s", member, group)
		}
		if err == nil {
			err = execute(ctx, tx, "join", "group", group, "role", member)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Grant gives the roles their rights on the present tables of the schema. It is safe to repeat, and revokes outdated rights
// in the same transaction.
func Grant(ctx context.Context, address string, o Options) error {
	return change(ctx, "grant", address, o, func(ctx context.Context, tx pgx.Tx) error {
		if err := execute(ctx, tx, "become_owner", "owner", o.Owner); err != nil {
			return err
		}
		for _, role := range o.Roles {
			if role.Owns {
				continue
			}
			for _, statement := range []string{"use_schema", "use_tables", "use_sequences", "use_functions", "keep_versions"} {
				if err := execute(ctx, tx, statement, "role", role.Name); err != nil {
					return err
				}
			}
			for _, table := range role.Without {
				if err := execute(ctx, tx, "withhold", "table", table, "role", role.Name); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// OwnerURL returns the address for sessions that act as the owner, so that it owns what migrations make.
func OwnerURL(address, owner string) (string, error) {
	if err := checkName(owner); err != nil {
		return "", fmt.Errorf("roles: %w", err)
	}
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	return address + separator + "options=-c%20role%3D" + owner, nil
}

// aloneLock is the advisory lock of Alone.
const aloneLock = 0x62656c6672796465 // "belfryde"

// Alone calls do while no other call of Alone on this database does. It holds one connection meanwhile, and no snapshot.
func Alone(ctx context.Context, address string, do func(context.Context) error) error {
	return transaction(ctx, "wait for the other migration", address, func(ctx context.Context, tx pgx.Tx) error {
		// A server may end sessions whose transaction is idle for long, and a migration may take longer.
		if _, err := tx.Exec(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0; SELECT pg_advisory_xact_lock($1)", int64(aloneLock)); err != nil {
			return err
		}
		if err := do(ctx); err != nil {
			return &doneError{err}
		}
		return nil
	})
}

// doneError is an error of the function that Alone called.
type doneError struct{ error }

// change runs do in one transaction, under the lock.
func change(ctx context.Context, what, address string, o Options, do func(context.Context, pgx.Tx) error) error {
	if err := o.check(); err != nil {
		return fmt.Errorf("roles: %s: %w", what, err)
	}
	return transaction(ctx, what, address, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(rolesLock)); err != nil {
			return err
		}
		return do(ctx, tx)
	})
}

// transaction runs do in a transaction, on a connection of its own.
func transaction(ctx context.Context, what, address string, do func(context.Context, pgx.Tx) error) error {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return fmt.Errorf("roles: %s: the database address is not valid", what) // the parser's text may quote a password
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	delete(config.RuntimeParams, "timezone") // of PGTZ: the server may not know it, and nothing here depends on it
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("roles: %s: %w", what, err)
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return do(ctx, tx) })
	closeErr := conn.Close(context.WithoutCancel(ctx))
	if done := (*doneError)(nil); errors.As(err, &done) {
		return done.error
	}
	if err = errors.Join(err, closeErr); err != nil {
		return fmt.Errorf("roles: %s: %w", what, err)
	}
	return nil
}

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

func checkName(name string) error {
	if !plainName.MatchString(name) {
		return fmt.Errorf("%q cannot name a role or table: want up to 63 lower-case letters, digits and _, not a digit first", name)
	}
	return nil
}

func (o Options) check() error {
	names := []string{o.Owner}
	if o.Member != "" {
		names = append(names, o.Member)
	}
	for _, role := range o.Roles {
		names = append(append(names, role.Name), role.Without...)
	}
	for _, name := range names {
		if err := checkName(name); err != nil {
			return err
		}
	}
	for _, role := range o.Roles {
		for _, member := range role.Members {
			if !memberName.MatchString(member) {
				return fmt.Errorf("%q cannot be a member: want up to 63 letters, digits and _ . @ -", member)
			}
		}
	}
	return nil
}

// memberName matches names of roles that others make: on Google Cloud, the address of a service account.
var memberName = regexp.MustCompile(`^[A-Za-z0-9_.@-]{1,63}$`)

func exists(ctx context.Context, tx pgx.Tx, name string) (there bool, err error) {
	err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", name).Scan(&there)
	return there, err
}

func makeRole(ctx context.Context, tx pgx.Tx, statement, name string) error {
	there, err := exists(ctx, tx, name)
	if err != nil || there {
		return err
	}
	return execute(ctx, tx, statement, "role", name)
}

// execute runs a statement after replacing the names in braces.
func execute(ctx context.Context, tx pgx.Tx, name string, pairs ...string) error {
	text, err := files.ReadFile("sql/" + name + ".sql")
	if err != nil {
		return err
	}
	var replaced []string
	for pair := range slices.Chunk(pairs, 2) {
		replaced = append(replaced, "{"+pair[0]+"}", pair[1])
	}
	if _, err := tx.Exec(ctx, strings.NewReplacer(replaced...).Replace(string(text))); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
