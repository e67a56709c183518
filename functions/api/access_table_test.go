package api

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/adapters/webhook"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/report"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/functions/api/call"
)

// everything is an API with all its operations.
func everything(t *testing.T, change ...func(*call.Options)) *API {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	leases, err := webhook.NewLeaseTokens([][]byte{make([]byte, 32)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	reporter := report.NewReporter(store, report.ReporterOptions{ID: "test"})
	o := call.Options{
		Submitter: submit.New(store, submit.Options{}), Jobs: store, Stats: store, Types: typecache.New(store, typecache.Options{}), Access: store,
		Attempts: reporter, Leases: leases, Ledger: store, Schedules: schedule.NewActs(store, schedule.Options{}, nil),
	}
	for _, f := range change {
		f(&o)
	}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.Close()
		reporter.Close(t.Context())
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// operationsOf lists the operations of the document.
func operationsOf(t *testing.T, a *API) []*huma.Operation {
	t.Helper()
	_, operations := a.describeAll()
	if len(operations) < 20 {
		t.Fatalf("the document has %d operations", len(operations))
	}
	return operations
}

// TestEveryOperationSaysWhatItNeeds: an operation that is added without a line in the table fails here, and is refused
// to all but admins of the whole until it has one.
func TestEveryOperationSaysWhatItNeeds(t *testing.T) {
	a := everything(t)
	var ids []string
	for _, op := range operationsOf(t, a) {
		ids = append(ids, op.OperationID)
		n, listed := needs[op.OperationID]
		if !listed {
			t.Errorf("%s %s (%s) has no line in needs", op.Method, op.Path, op.OperationID)
		}
		if secret := n.scope == public; secret && strings.HasPrefix(op.Path, "/v1/") {
			t.Errorf("%s is open to everyone", op.OperationID)
		}
		if n.scope == tenant || n.scope == whole {
			if looks := op.Method == http.MethodGet || op.OperationID == "preview-schedule"; !n.role.Valid() || n.role == core.RoleRead && !looks {
				t.Errorf("%s %s needs the role %q", op.Method, op.Path, n.role)
			}
		}
	}
	for id := range needs {
		if !slices.Contains(ids, id) {
			t.Errorf("needs has a line for %s, which is no operation", id)
		}
	}
	if n := needOf(&huma.Operation{OperationID: "new", Path: "/v1/new"}); n != (need{core.RoleAdmin, whole}) {
		t.Errorf("an operation without a line needs %+v", n)
	}
}

// tokenOf keeps a token and returns its text.
func (a *API) tokenOf(t *testing.T, role core.Role, tenant string) string {
	t.Helper()
	text, id, hash, err := core.NewToken(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Access.CreateToken(t.Context(), core.Token{ID: id, Name: "n", Hash: hash, Role: role, Tenant: tenant}); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestRoles goes through all operations with a token of each role, for all tenants and for one.
func TestRoles(t *testing.T) {
	a := everything(t)
	for _, of := range []string{"", "acme"} {
		for _, role := range []core.Role{core.RoleRead, core.RoleSubmit, core.RoleAdmin} {
			token := a.tokenOf(t, role, of)
			for _, op := range operationsOf(t, a) {
				n := needOf(op)
				r := httptest.NewRequest(op.Method, strings.NewReplacer("{id}", "7", "{type}", "echo", "{name}", "nightly").Replace(op.Path), nil)
				r.Header.Set("Authorization", "Bearer "+token)
				w := httptest.NewRecorder()
				a.ServeHTTP(w, r)
				refused := (n.scope == tenant || n.scope == whole) && !role.Allows(n.role) || n.scope == whole && of != ""
				if got := w.Code == http.StatusForbidden; got != refused || w.Code == http.StatusUnauthorized {
					t.Errorf("%s with role %s for tenant %q: %d %s", op.OperationID, role, of, w.Code, w.Body)
				}
				if refused && !strings.Contains(w.Body.String(), "this call needs ") {
					t.Errorf("%s: not a clear word: %s", op.OperationID, w.Body)
				}
			}
		}
	}
}
