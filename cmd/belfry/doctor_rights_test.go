package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// A server whose role lacks a right is not asked again and again, and doctor names the right, by way of the server and of the database.
func TestDoctorNamesMissingRights(t *testing.T) {
	admin := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	role := "doctor_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	testenv.Execute(t, admin, "CREATE ROLE "+role+" LOGIN PASSWORD 'program'; GRANT USAGE ON SCHEMA belfry TO "+role+"; GRANT ALL ON ALL TABLES IN SCHEMA belfry TO "+role+
		"; GRANT ALL ON ALL SEQUENCES IN SCHEMA belfry TO "+role+"; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA belfry TO "+role)
	defer testenv.Execute(t, admin, "DROP OWNED BY "+role+"; DROP ROLE "+role)
	address, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(role, "program")
	store, err := postgres.Open(t.Context(), address.String(), postgres.Options{PoolSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	server, err := url.Parse(nodetest.StartOn(t, "api", store))
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	between := httputil.NewSingleHostReverseProxy(server)
	counted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		between.ServeHTTP(w, r)
	}))
	t.Cleanup(counted.Close)
	r := newRig(t, counted.URL)
	r.env["BELFRY_DATABASE_URL"] = address.String()
	for _, right := range []string{"SELECT, INSERT, UPDATE, DELETE ON TABLE belfry.set_apart", "INSERT ON TABLE belfry.job_history", "USAGE ON SCHEMA belfry"} {
		testenv.Execute(t, admin, "REVOKE "+right+" FROM "+role)
		asked.Store(0)
		if code := r.run("doctor"); code != console.ExitFailed {
			t.Errorf("without %s: doctor ends with %d", right, code)
		}
		api, database, _ := strings.Cut(r.out, "\nbroken    database ")
		if !strings.Contains(api, right) || !strings.Contains(database, right) || !strings.Contains(database, "→ GRANT it") {
			t.Errorf("without %s doctor says\n%s", right, r.out)
		}
		if n := asked.Load(); n > 2 {
			t.Errorf("without %s the server was asked %d times", right, n)
		}
		testenv.Execute(t, admin, "GRANT "+right+" TO "+role)
	}
}
