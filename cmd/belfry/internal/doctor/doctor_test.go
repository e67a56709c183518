package doctor

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/testenv"
)

func name(t *testing.T, address string) string {
	t.Helper()
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	return pgx.Identifier{config.Database}.Sanitize()
}

// states are the findings as "check: state", and every one that is not ok must say what to do.
func states(t *testing.T, f findings) string {
	t.Helper()
	var all []string
	for _, found := range f {
		all = append(all, found.Check+": "+found.State)
		if (found.State == stateOK) != (found.Advice == "") {
			t.Errorf("%+v", found)
		}
	}
	return strings.Join(all, ", ")
}

func TestDoctorLooksAtClocks(t *testing.T) {
	noon := time.Date(2031, 1, 2, 12, 0, 0, 0, time.UTC)
	for store, want := range map[time.Duration]string{
		0: stateOK, 3 * time.Second: stateOK, -3 * time.Second: stateOK, 7 * time.Second: stateWarning, -7 * time.Second: stateWarning, 24 * time.Hour: stateWarning,
	} {
		a := &console.App{Now: func() time.Time { return noon.Add(time.Second) }} // it took a second to ask
		var f findings
		checkClock(a, &f, "clock", noon.Add(store), noon)
		if got := states(t, f); got != "clock: "+want {
			t.Errorf("off by %s: %s", store, got)
		}
	}
	var f findings
	checkClock((&console.App{Now: func() time.Time { return noon }}), &f, "clock", noon.Add(-90*time.Second), noon)
	if !strings.Contains(f[0].Text, "is 1m30s behind this machine's") {
		t.Error(f[0].Text)
	}
}

func TestDoctorLooksAtWork(t *testing.T) {
	var f findings
	checkWork(&f, &client.Stats{
		Queues: []client.QueueStats{{Priority: client.Bulk, OldestDue: "1h0m0.5s"}, {Priority: client.Default, OldestDue: "59s"}},
		Types:  []client.TypeStats{{Type: "few", Unhandled: 1}, {Type: "fine", Workers: 1}, {Type: "many", Unhandled: 7}},
		Stuck:  1, Unhandled: 8, DeadLetters: 100_000, Capped: true, OldestSnapshot: "6m0s", HistoryOverflow: 3,
	}, true)
	if got, want := states(t, f), "stuck: broken, late: warning, unhandled: warning, dead letters: warning, snapshot: warning, history: warning"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if f[0].Text != "running under a lease that has passed: 1 job" || f[1].Text != "due jobs wait: bulk 1h0m1s" || f[2].Text != "8 jobs due, of types that no worker handles: many (7), few (1)" || f[3].Text != "100000+ wait to be looked at" {
		t.Errorf("%+v", f)
	}
}

func TestDoctorNamesRowsThatRaiseAnError(t *testing.T) {
	var f findings
	checkApart(&f, &client.Stats{})
	if got := states(t, f); got != "rows: ok" {
		t.Error(got)
	}
	s := client.Stats{SetApartRows: 15}
	for i := range 12 {
		s.SetApart = append(s.SetApart, client.ApartRow{Row: fmt.Sprintf("job %d (mail.send)", i), Act: "claim", Error: "missing chunk", Since: time.Now()})
	}
	f = nil
	checkApart(&f, &s)
	if len(f) != 11 || f[0].State != stateBroken || !strings.Contains(f[0].Text, "job 0 (mail.send) raises an error (claim), since ") ||
		!strings.HasSuffix(f[0].Text, ": missing chunk") || f[0].Advice == "" || f[10].Text != "5 more rows are damaged or raise an error" {
		t.Errorf("%+v", f)
	}
	f = nil
	checkApart(&f, &client.Stats{SetApartRows: 1, SetApart: []client.ApartRow{{Row: "damaged job 7 (mail.send)", Act: "use", Error: "the status is 9", Since: time.Now()}}})
	if len(f) != 1 || !strings.HasPrefix(f[0].Text, "damaged job 7 (mail.send) (use), since ") || strings.Contains(f[0].Text, "raises") {
		t.Errorf("%+v", f)
	}
}

func TestDoctorNamesTheOldestSnapshot(t *testing.T) {
	address := testenv.Postgres(t)
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["application_name"] = "forgotten"
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if d, err := postgres.Diagnose(t.Context(), address); err != nil || d.SnapshotPID != 0 || d.OldestSnapshot != 0 || d.Schedulers != 0 || len(d.Faults()) != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := conn.Exec(t.Context(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	d, err := postgres.Diagnose(t.Context(), address)
	if err != nil || d.SnapshotPID != int(conn.PgConn().PID()) || d.OldestSnapshot <= 0 || d.SnapshotApplication != "forgotten" || d.SnapshotState != "idle in transaction" {
		t.Errorf("%+v, %v", d, err)
	}
	var f findings
	checkSnapshot(&f, d)
	d.OldestSnapshot = time.Hour
	checkSnapshot(&f, d)
	if got := states(t, f); got != "snapshot: ok, snapshot: warning" {
		t.Error(got)
	}
	if _, err := postgres.Diagnose(t.Context(), "postgres://u:s3cr3t@127.0.0.1:1/x"); err == nil || strings.Contains(err.Error(), "s3cr3t") {
		t.Error(err)
	}
}

func TestDoctorLooksAtTheServer(t *testing.T) {
	address := testenv.Postgres(t)
	testenv.Execute(t, address, "ALTER DATABASE "+name(t, address)+" SET default_transaction_read_only = on")
	d, err := postgres.Diagnose(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	var f findings
	checkServer(&f, d)
	if got := states(t, f); got != "database: broken" || !strings.Contains(f[0].Text, "takes no writes") {
		t.Errorf("%s %+v", got, f)
	}
}

// A role that is named like the schema gets other people's tables into it.
func TestDoctorNamesWhatIsNotBelfrys(t *testing.T) {
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	look := func(address string) string {
		t.Helper()
		d, err := postgres.Diagnose(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		var f findings
		checkNames(&f, d)
		texts := []string{states(t, f)}
		for _, found := range f {
			texts = append(texts, found.Text)
		}
		return strings.Join(texts, "; ")
	}
	if got := look(address); got != "" {
		t.Errorf("a fresh database: %s", got)
	}
	testenv.Execute(t, address, "DO $$ BEGIN CREATE ROLE belfry; EXCEPTION WHEN duplicate_object THEN NULL; END $$; ALTER ROLE belfry LOGIN PASSWORD 'b'; ALTER ROLE belfry RESET ALL; GRANT CREATE, USAGE ON SCHEMA belfry TO belfry; GRANT SELECT ON ALL TABLES IN SCHEMA belfry TO belfry")
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("belfry", "b")
	testenv.Execute(t, u.String(), "CREATE TABLE orders (id int); CREATE VIEW belfry.open_orders AS SELECT * FROM orders")
	if got := look(u.String()); !strings.HasPrefix(got, "role: warning, strangers: warning; ") || !strings.HasSuffix(got, ": open_orders, orders") {
		t.Errorf("with a table of another's: %s", got)
	}
	testenv.Execute(t, u.String(), "ALTER ROLE belfry SET search_path = public")
	if got := look(u.String()); !strings.HasPrefix(got, "strangers: warning; ") {
		t.Errorf("with another search_path: %s", got)
	}
}

// Slots that are nearly all in use are told, those for deliveries before the others.
func TestDoctorNamesSlotsInUse(t *testing.T) {
	for _, c := range []struct {
		slots        client.SlotStats
		state, words string
	}{
		{client.SlotStats{All: 100, Busy: 12}, "ok", "2 are alive; 12 of 100 slots are in use"},
		{client.SlotStats{All: 100, Busy: 89, ForDeliveries: 90, Deliveries: 80}, "ok", "2 are alive; 89 of 100 slots are in use, 80 of 90 for deliveries"},
		{client.SlotStats{All: 100, Busy: 81, ForDeliveries: 90, Deliveries: 81}, "warning", "2 are alive; 81 of 90 slots for deliveries are in use"},
		{client.SlotStats{All: 100, Busy: 90, ForDeliveries: 90, Deliveries: 3}, "warning", "2 are alive; 90 of 100 slots are in use"},
	} {
		var f findings
		checkWorkers(&f, &client.Stats{Workers: 2, Slots: c.slots})
		if len(f) != 1 || f[0].State != c.state || f[0].Text != c.words {
			t.Errorf("%+v: %+v", c.slots, f)
		}
	}
}
