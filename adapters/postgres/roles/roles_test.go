package roles_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/adapters/postgres/roles"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// options are roles of this test's own: those of a server are shared by all its databases.
func options(t *testing.T, address string) roles.Options {
	t.Helper()
	name := fmt.Sprintf("roles_%d_", time.Now().UnixNano())
	o := roles.Options{Owner: name + "owner", Roles: []roles.Role{
		{Name: name + "api"}, {Name: name + "tick", Owns: true}, {Name: name + "worker", Without: []string{"tokens", "idempotency_keys"}},
	}, Member: "no_such_group"}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		conn, err := pgx.Connect(ctx, address)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(ctx)
		for _, role := range []string{name + "api", name + "tick", name + "worker", name + "owner"} {
			if _, err := conn.Exec(ctx, fmt.Sprintf("DROP OWNED BY %s CASCADE; DROP ROLE %[1]s", role)); err != nil {
				t.Error(err)
			}
		}
	})
	return o
}

// migrated brings the schema up as the owner, with all rights.
func migrated(t *testing.T, address string, o roles.Options) {
	t.Helper()
	if err := roles.Prepare(t.Context(), address, o); err != nil {
		t.Fatal(err)
	}
	as, err := roles.OwnerURL(address, o.Owner)
	if err == nil {
		err = postgres.Migrate(t.Context(), as)
	}
	if err == nil {
		err = roles.Grant(t.Context(), address, o)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A time zone in the environment that the server does not know stops nothing.
func TestTimeZoneOfTheEnvironmentIsNotUsed(t *testing.T) {
	address := testenv.Postgres(t)
	o := options(t, address)
	t.Setenv("PGTZ", "Mars/Phobos")
	migrated(t, address, o)
}

// as is the address for a role, which gets a password: the tests' server asks for one.
func as(t *testing.T, address, role string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), fmt.Sprintf("ALTER ROLE %s PASSWORD 'of-the-test'", role)); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "of-the-test")
	return u.String()
}

func open(t *testing.T, address, role string) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), as(t, address, role), postgres.Options{PoolSize: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// query reads one text.
func query(t *testing.T, address, statement string) (text string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), statement).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// refused asserts that PostgreSQL denies a role a statement.
func refused(t *testing.T, address, role, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), as(t, address, role))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "42501") {
		t.Errorf("%s: %s: %v", role, statement, err)
	}
}

// TestRolesDoTheirWork: each role can do what its function does, and not what only others need.
func TestRolesDoTheirWork(t *testing.T) {
	address := testenv.Postgres(t)
	o := options(t, address)
	for range 2 { // repeating it changes nothing
		migrated(t, address, o)
	}
	api, tick, worker := o.Roles[0].Name, o.Roles[1].Name, o.Roles[2].Name
	submitting := open(t, address, api)
	answers, err := submitting.Submit(t.Context(), []core.NewJob{{Type: "echo", Payload: json.RawMessage("1"), MaxAttempts: 1, Priority: core.Default}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := submitting.CreateToken(t.Context(), core.Token{ID: strings.Repeat("a", core.TokenIDLength), Name: "x", Role: core.RoleRead}); err != nil {
		t.Error(err)
	}
	done, err := open(t, address, tick).Maintain(t.Context(), core.MaintainRequest{DaysAhead: 20})
	if err != nil || done.PartitionsMade == 0 {
		t.Errorf("the tick made %d partitions, %v", done.PartitionsMade, err)
	}
	if owners := query(t, address, `SELECT string_agg(DISTINCT relowner::regrole::text, ',') FROM pg_class WHERE relnamespace = 'belfry'::regnamespace`); owners != o.Owner {
		t.Errorf("tables belong to %s", owners)
	}
	working := open(t, address, worker)
	if _, err := working.Secret(t.Context(), "key", make([]byte, 32)); err != nil {
		t.Error(err)
	}
	if _, err := working.Get(t.Context(), answers[0].ID); err != nil {
		t.Error(err)
	}
	for _, role := range []string{api, worker} {
		refused(t, address, role, "DROP TABLE belfry.dead_letters")
		refused(t, address, role, "TRUNCATE belfry.jobs")
		refused(t, address, role, "CREATE TABLE belfry.mine ()")
		refused(t, address, role, "INSERT INTO belfry.schema_versions (version, name) VALUES (99, 'x')")
		refused(t, address, role, "SET ROLE "+o.Owner)
	}
	refused(t, address, worker, "SELECT FROM belfry.tokens")
	refused(t, address, worker, "DELETE FROM belfry.idempotency_keys")
}

// TestRolesTakeOver: a schema that another role made, as a restore does, is the owner's afterwards, all of it, and rights that
// a role had before and has no more are taken away.
func TestRolesTakeOver(t *testing.T) {
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	o := options(t, address)
	migrated(t, address, o)
	strangers := query(t, address, strings.ReplaceAll(`SELECT coalesce(string_agg(name, ','), '') FROM (
		SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'belfry'::regnamespace AND relowner <> 'OWNER'::regrole
		UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'belfry'::regnamespace AND proowner <> 'OWNER'::regrole
		UNION ALL SELECT typname FROM pg_type WHERE typnamespace = 'belfry'::regnamespace AND typowner <> 'OWNER'::regrole
		UNION ALL SELECT nspname FROM pg_namespace WHERE nspname = 'belfry' AND nspowner <> 'OWNER'::regrole) o`, "OWNER", o.Owner))
	if strangers != "" {
		t.Errorf("not the owner's: %s", strangers)
	}
	o.Roles[0].Without = []string{"tokens"}
	if err := roles.Grant(t.Context(), address, o); err != nil {
		t.Fatal(err)
	}
	refused(t, address, o.Roles[0].Name, "SELECT FROM belfry.tokens")
}

// TestRolesAtOnce: several that prepare, migrate and grant at once all succeed.
func TestRolesAtOnce(t *testing.T) {
	address := testenv.Postgres(t)
	o := options(t, address)
	owner, err := roles.OwnerURL(address, o.Owner)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			err := roles.Prepare(t.Context(), address, o)
			if err == nil {
				err = postgres.Migrate(t.Context(), owner)
			}
			if err == nil {
				err = roles.Grant(t.Context(), address, o)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// TestRoleNames: a name that would need quoting is refused before anything is asked of the server.
func TestRoleNames(t *testing.T) {
	for _, name := range []string{"", `a"b`, "Belfry", "1a", "a b", strings.Repeat("a", 64)} {
		for what, o := range map[string]roles.Options{
			"owner": {Owner: name}, "role": {Owner: "o", Roles: []roles.Role{{Name: name}}},
			"table": {Owner: "o", Roles: []roles.Role{{Name: "r", Without: []string{name}}}},
		} {
			if err := roles.Prepare(t.Context(), "postgres://127.0.0.1:1/none", o); err == nil || !strings.Contains(err.Error(), "cannot name") {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
}

// TestMembers: users that the server's own tools have made get the rights of their programs, and nothing about the users is
// changed; a user that is missing is named.
func TestMembers(t *testing.T) {
	address := testenv.Postgres(t)
	name := fmt.Sprintf("roles_%d_", time.Now().UnixNano())
	o := roles.Programs(name)
	users := []string{name + "api@my-project.iam", name + "tick@my-project.iam", name + "worker@my-project.iam"}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, role := range append([]string{name + "api", name + "tick", name + "worker", name + "owner"}, users...) {
			if _, err := conn.Exec(ctx, fmt.Sprintf("DROP OWNED BY %q CASCADE; DROP ROLE %[1]q", role)); err != nil {
				t.Error(err)
			}
		}
		_ = conn.Close(ctx)
	})
	for i, user := range users {
		o.Roles[i].Members = []string{user}
	}
	if err := roles.Prepare(t.Context(), address, o); err == nil || !strings.Contains(err.Error(), users[0]) {
		t.Errorf("without the users: %v", err)
	}
	for _, user := range users {
		if _, err := conn.Exec(t.Context(), fmt.Sprintf("CREATE ROLE %q LOGIN PASSWORD 'of-the-test'", user)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		migrated(t, address, o)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(users[0], "of-the-test")
	api, err := postgres.Open(t.Context(), u.String(), postgres.Options{PoolSize: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	if _, err := api.Submit(t.Context(), []core.NewJob{{Type: "a", Payload: json.RawMessage("{}"), Priority: core.Default, MaxAttempts: 1}}); err != nil {
		t.Error(err)
	}
	u.User = url.UserPassword(users[1], "of-the-test")
	acting, err := roles.OwnerURL(u.String(), o.Owner)
	if err != nil {
		t.Fatal(err)
	}
	tick, err := postgres.Open(t.Context(), acting, postgres.Options{PoolSize: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tick.Close() })
	if made, err := tick.Maintain(t.Context(), core.MaintainRequest{DaysAhead: 12}); err != nil || made.PartitionsMade == 0 {
		t.Errorf("%+v %v", made, err)
	}
	if owners := query(t, address, "SELECT string_agg(DISTINCT tableowner, ' ') FROM pg_tables WHERE schemaname = 'belfry'"); owners != o.Owner {
		t.Errorf("tables belong to %s, want %s", owners, o.Owner)
	}
	u.User = url.UserPassword(users[2], "of-the-test")
	worker, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close(t.Context())
	if _, err := worker.Exec(t.Context(), "SELECT 1 FROM belfry.tokens"); err == nil {
		t.Error("the worker reads tokens")
	}
}
