package postgres_test

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// warnings are what a store told its host.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

func (w *warnings) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

func (w *warnings) have(part string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.texts, func(text string) bool { return strings.Contains(text, part) })
}

func openWarned(t *testing.T, address string) (*postgres.Store, *warnings) {
	t.Helper()
	told := &warnings{}
	store, err := postgres.Open(t.Context(), address, postgres.Options{PoolSize: 4, Warn: told.add})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store, told
}

// noteCommits makes the table say how each job's transaction would be committed.
const noteCommits = `CREATE TABLE public.commits (mode text);
GRANT ALL ON public.commits TO PUBLIC;
CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.commits VALUES (current_setting('synchronous_commit')); RETURN new; END $$;
CREATE TRIGGER note BEFORE INSERT ON belfry.jobs FOR EACH ROW EXECUTE FUNCTION public.note()`

// Settings that are changed under a running store: no job is accepted that would not be on disk, readiness and the log say
// why, and all is well again once the setting is.
func TestSettingThatIsChangedUnderARunningStore(t *testing.T) {
	for _, c := range []struct{ setting, says string }{
		{"synchronous_commit = off", "synchronous_commit is off"},
		{"default_transaction_isolation = 'serializable'", "default_transaction_isolation"},
		{"default_transaction_isolation = 'repeatable read'", "default_transaction_isolation"},
	} {
		for _, of := range []string{"DATABASE", "ROLE"} {
			t.Run(c.setting+" of the "+strings.ToLower(of), func(t *testing.T) {
				address := migrated(t)
				admin := connect(t, address)
				script(t, admin, noteCommits)
				target := `DATABASE "` + strings.TrimPrefix(must(url.Parse(address)).Path, "/") + `"`
				if of == "ROLE" {
					address = asOwnerNamed(t, admin, address, "set_"+newName())
					target = `ROLE "` + must(url.Parse(address)).User.Username() + `"`
				}
				store, told := openWarned(t, address)
				must(store.Submit(t.Context(), []core.NewJob{{Type: "a"}}))
				script(t, admin, "ALTER "+target+" SET "+c.setting)
				script(t, admin, "SELECT pg_terminate_backend(pid) "+sessionsOfOthers)
				_, err := store.Submit(t.Context(), []core.NewJob{{Type: "a"}})
				if !errors.Is(err, core.ErrUnsafe) || !strings.Contains(core.AdviceOf(err), c.says) {
					t.Errorf("submit: %v", err)
				}
				if err := store.Ping(t.Context()); !errors.Is(err, core.ErrUnsafe) || !strings.Contains(core.AdviceOf(err), c.says) {
					t.Errorf("readiness: %v", err)
				}
				if !told.have(c.says) {
					t.Errorf("the log has %q", told.texts)
				}
				script(t, admin, "ALTER "+target+" RESET ALL")
				if err := store.Ping(t.Context()); err != nil { // although nothing asked for a new connection meanwhile
					t.Error(err)
				}
				must(store.Submit(t.Context(), []core.NewJob{{Type: "a"}}))
				if off := value[int](t, admin, "SELECT count(*)::integer FROM public.commits WHERE mode = 'off'"); off != 0 {
					t.Errorf("%d jobs were accepted that a crash loses", off)
				}
			})
		}
	}
}

// A pooler's sessions are not ours: one that would not wait for the disk is made to, in each transaction that writes.
func TestSettingThatIsChangedBehindAPooler(t *testing.T) {
	address := migrated(t)
	admin := connect(t, address)
	script(t, admin, noteCommits)
	store := open(t, testenv.PgBouncer(t, address))
	script(t, admin, `ALTER DATABASE "`+strings.TrimPrefix(must(url.Parse(address)).Path, "/")+`" SET synchronous_commit = off`)
	script(t, admin, "SELECT pg_terminate_backend(pid) "+sessionsOfOthers)
	written := 0
	for _, jobs := range [][]core.NewJob{{{Type: "a"}}, {{Type: "a", DedupeKey: "k"}}, {{Type: "a"}, {Type: "a", DedupeKey: "l"}}} {
		if _, err := store.Submit(t.Context(), jobs); err == nil {
			written += len(jobs)
		} else if !errors.Is(err, core.ErrUnsafe) {
			t.Error(err)
		}
	}
	if err := submitOnce(t.Context(), store, "o", core.NewJob{Type: "a"}); err == nil {
		written++
	}
	modes := value[string](t, admin, "SELECT coalesce(string_agg(DISTINCT mode, ','), '') FROM public.commits")
	if modes != "on" || written == 0 {
		t.Errorf("%d jobs were written with synchronous_commit %s", written, modes)
	}
}

// A configuration that is read again reaches sessions that are open; ours keep what was found good.
func TestConfigurationThatIsReadAgain(t *testing.T) {
	server := testenv.PostgresServer(t, serverOptions())
	if err := postgres.Migrate(t.Context(), server.URL()); err != nil {
		t.Fatal(err)
	}
	admin := connect(t, server.URL())
	script(t, admin, noteCommits)
	store, told := openWarned(t, server.URL())
	must(store.Submit(t.Context(), []core.NewJob{{Type: "a"}}))
	script(t, admin, "ALTER SYSTEM SET synchronous_commit = off")
	script(t, admin, "SELECT pg_reload_conf()")
	awaitCondition(t, func() bool { return value[string](t, admin, "SHOW synchronous_commit") == "off" })
	for range 5 {
		if _, err := store.Submit(t.Context(), []core.NewJob{{Type: "a"}}); err != nil && !errors.Is(err, core.ErrUnsafe) {
			t.Error(err)
		}
	}
	if off := value[int](t, admin, "SELECT count(*)::integer FROM public.commits WHERE mode = 'off'"); off != 0 {
		t.Errorf("%d jobs were accepted that a crash loses", off)
	}
	if !told.have("fsync") {
		t.Errorf("nobody was told that this server does not write to disk: %q", told.texts)
	}
}

// A role that cannot make partitions works until one is missing: readiness, maintenance and doctor name the right before.
func TestRoleThatMayMakeNoTables(t *testing.T) {
	for _, c := range []struct{ take, names string }{
		{"REVOKE CREATE ON SCHEMA belfry FROM %s", "CREATE ON SCHEMA belfry"},
		{"ALTER TABLE belfry.job_history OWNER TO postgres", "owns belfry.job_history"},
		{"ALTER TABLE belfry.occurrences OWNER TO postgres", "owns belfry.occurrences"},
		{"REVOKE INSERT ON belfry.jobs FROM %s", "INSERT ON TABLE belfry.jobs"},
	} {
		t.Run(c.names, func(t *testing.T) {
			address := migrated(t)
			admin := connect(t, address)
			role := "part_" + newName()
			limited := asOwnerNamed(t, admin, address, role)
			script(t, admin, "ALTER SCHEMA belfry OWNER TO postgres; GRANT USAGE, CREATE ON SCHEMA belfry TO "+role)
			store, _ := openWarned(t, limited)
			if _, err := store.Maintain(t.Context(), core.MaintainRequest{}); err != nil {
				t.Fatal(err)
			}
			if err := store.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			script(t, admin, strings.ReplaceAll(c.take, "%s", role))
			_, err := store.Maintain(t.Context(), core.MaintainRequest{})
			if ping := store.Ping(t.Context()); !errors.Is(ping, core.ErrReadOnly) || !strings.Contains(core.AdviceOf(ping), c.names) {
				t.Errorf("readiness: %v", ping)
			}
			if !strings.Contains(c.names, "INSERT") && !strings.Contains(core.AdviceOf(err), c.names) {
				t.Errorf("maintenance: %v", err)
			}
			d, err := postgres.Diagnose(t.Context(), limited)
			if err != nil {
				t.Fatal(err)
			}
			if faults := d.Faults(); !slices.ContainsFunc(faults, func(f postgres.Fault) bool { return strings.Contains(f.Text, c.names) }) {
				t.Errorf("doctor: %+v", faults)
			}
		})
	}
}

func newName() string {
	return strings.ToLower(strings.ReplaceAll(time.Now().Format("150405.000000000"), ".", "_"))
}

// asOwnerNamed makes a role that owns all of the schema, and returns the address of the database for it.
func asOwnerNamed(t *testing.T, admin *pgx.Conn, address, role string) string {
	t.Helper()
	script(t, admin, `CREATE ROLE "`+role+`" LOGIN PASSWORD 'owner'`)
	t.Cleanup(func() {
		script(t, admin, `REASSIGN OWNED BY "`+role+`" TO postgres; DROP OWNED BY "`+role+`"; DROP ROLE "`+role+`"`)
	})
	script(t, admin, `DO $$
DECLARE o record;
BEGIN
    ALTER SCHEMA belfry OWNER TO "`+role+`";
    FOR o IN SELECT c.oid::regclass AS name, c.relkind FROM pg_class c WHERE c.relnamespace = 'belfry'::regnamespace AND c.relkind IN ('r', 'p', 'S')
             AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'i' AND c.relkind = 'S') LOOP
        EXECUTE format('ALTER %s %s OWNER TO %I', CASE o.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, o.name, '`+role+`');
    END LOOP;
    FOR o IN SELECT p.oid::regprocedure AS name, 'f' FROM pg_proc p WHERE p.pronamespace = 'belfry'::regnamespace LOOP
        EXECUTE format('ALTER ROUTINE %s OWNER TO %I', o.name, '`+role+`');
    END LOOP;
END $$`)
	owned := must(url.Parse(address))
	owned.User = url.UserPassword(role, "owner")
	return owned.String()
}
