package migrate_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/adapters/webhook"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/migrate"
)

// database is a store as Run sees it; its steps are noted, and fail where the test says.
type database struct {
	store   core.AccessStore
	alone   sync.Mutex
	steps   []string
	missing []string // migrations that the next Migrate applies
	fail    string
}

var errStep = errors.New("broken by the test")

func (d *database) step(name string) error {
	d.steps = append(d.steps, name)
	if name == d.fail {
		return errStep
	}
	return nil
}

func (d *database) Alone(ctx context.Context, do func(context.Context) error) error {
	d.alone.Lock()
	defer d.alone.Unlock()
	return do(ctx)
}

func (d *database) Prepare(context.Context) error { return d.step("prepare") }

func (d *database) Migrate(context.Context) (applied []string, err error) {
	if err := d.step("migrate"); err != nil {
		return nil, err
	}
	applied, d.missing = d.missing, nil
	return applied, nil
}

func (d *database) Grant(context.Context) error { return d.step("grant") }

func (d *database) Tokens(context.Context) (core.AccessStore, func() error, error) {
	return d.store, func() error { return nil }, nil
}

// vault is one in memory.
type vault struct {
	mu   sync.Mutex
	text string
	fail bool // the next write does
}

func (v *vault) Read(context.Context) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.text, nil
}

func (v *vault) Write(_ context.Context, text string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fail {
		v.fail = false
		return errStep
	}
	v.text = text
	return nil
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return &database{store: store, missing: []string{"0001_jobs"}}
}

// works reports whether a token is one of the database's, an admin's without an end, and how many there are.
func works(t *testing.T, d *database, text string) (good bool, all int) {
	t.Helper()
	list, err := d.store.ListTokens(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	id, hash, _ := core.ParseToken(text)
	for i := range list {
		good = good || list[i].ID == id && list[i].Matches(hash) && list[i].Role == core.RoleAdmin && list[i].ExpiresAt.IsZero()
	}
	return good, len(list)
}

func run(t *testing.T, o migrate.Options, rotate ...string) migrate.Report {
	t.Helper()
	report, err := migrate.Run(t.Context(), o, migrate.Request{Rotate: rotate})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestRun: secrets are made once, kept by repeated runs, and made anew when asked for. The token in the vault always works
// and is the only one of this function; a webhook's receiver may know either of two secrets.
func TestRun(t *testing.T) {
	d, admin, signing := newDatabase(t), &vault{}, &vault{}
	o := migrate.Options{Database: d, AdminToken: admin, WebhookSecrets: signing}
	if got, want := run(t, o), (migrate.Report{Migrated: true, Applied: []string{"0001_jobs"}, AdminToken: "made", WebhookSecrets: "made"}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if steps := strings.Join(d.steps, " "); steps != "prepare migrate grant" {
		t.Errorf("%s", steps)
	}
	token, secrets := admin.text, signing.text
	if got, want := run(t, o), (migrate.Report{Migrated: true, AdminToken: "kept", WebhookSecrets: "kept"}); !reflect.DeepEqual(got, want) || admin.text != token || signing.text != secrets {
		t.Errorf("%+v", got)
	}
	run(t, o, migrate.RotateAdminToken, migrate.RotateWebhookSecrets)
	if good, all := works(t, d, admin.text); !good || all != 1 || admin.text == token {
		t.Errorf("after a rotation: %v, of %d", good, all)
	}
	run(t, o, migrate.RotateWebhookSecrets)
	list := strings.Split(signing.text, ",")
	if err := webhook.CheckSecrets(list); err != nil || len(list) != 2 || strings.Contains(signing.text, secrets) {
		t.Errorf("%d secrets, %v", len(list), err)
	}
	other := newDatabase(t)
	o.Database = other
	if got := run(t, o); got.AdminToken != "kept" {
		t.Errorf("moved: %+v", got)
	}
	if good, all := works(t, other, admin.text); !good || all != 1 {
		t.Errorf("moved: %v, of %d", good, all)
	}
	if _, err := migrate.Run(t.Context(), o, migrate.Request{Rotate: []string{"password"}}); err == nil || !strings.Contains(err.Error(), "want admin_token or webhook_secrets") {
		t.Error(err)
	}
}

// TestRunCutOff: whichever step fails, none after it is made, and the next run ends well.
func TestRunCutOff(t *testing.T) {
	for _, step := range []string{"prepare", "migrate", "grant"} {
		d, admin := newDatabase(t), &vault{}
		d.fail = step
		o := migrate.Options{Database: d, AdminToken: admin}
		if _, err := migrate.Run(t.Context(), o, migrate.Request{}); !errors.Is(err, errStep) || d.steps[len(d.steps)-1] != step || admin.text != "" {
			t.Errorf("%s: %v after %v", step, err, d.steps)
		}
	}
	d, admin := newDatabase(t), &vault{fail: true}
	o := migrate.Options{Database: d, AdminToken: admin}
	if _, err := migrate.Run(t.Context(), o, migrate.Request{}); !errors.Is(err, errStep) {
		t.Error(err)
	}
	run(t, o)
	if good, all := works(t, d, admin.text); !good || all != 1 {
		t.Errorf("the token in the vault works: %v, of %d", good, all)
	}
}

// TestRunAtOnce: two runs at once leave one token, the one in the vault.
func TestRunAtOnce(t *testing.T) {
	d, admin := newDatabase(t), &vault{}
	o := migrate.Options{Database: d, AdminToken: admin}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := migrate.Run(t.Context(), o, migrate.Request{Rotate: []string{migrate.RotateAdminToken}}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if good, all := works(t, d, admin.text); !good || all != 1 {
		t.Errorf("the token in the vault works: %v, of %d", good, all)
	}
}

// TestForeignSecret: what is not a token is left as it is.
func TestForeignSecret(t *testing.T) {
	admin := &vault{text: "hunter2"}
	_, err := migrate.Run(t.Context(), migrate.Options{Database: newDatabase(t), AdminToken: admin, Random: bytes.NewReader(nil)}, migrate.Request{})
	if err == nil || !strings.Contains(err.Error(), "empty the secret") || strings.Contains(err.Error(), "hunter2") || admin.text != "hunter2" {
		t.Errorf("%v", err)
	}
}
