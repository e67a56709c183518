package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/internal/pgserver"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// As a compose file starts them: all at once, on a database that has no tables.
func TestSixStartAtOnceOnAnEmptyDatabase(t *testing.T) {
	clean(t)
	t.Setenv("BELFRY_DATABASE_URL", testenv.Postgres(t))
	t.Setenv("BELFRY_DATABASE_POOL", "4")
	var servers []*server
	for _, role := range []string{"api", "tick", "tick", "worker", "worker", "all"} {
		servers = append(servers, start(t, "-role", role))
	}
	var api string
	for _, s := range servers {
		if l := s.says(t, "running", ""); l.API != "" {
			api = l.API
		}
	}
	var done job
	call(t, "POST", "http://"+api+"/v1/jobs", `{"type":"echo","payload":1}`, &done)
	call(t, "GET", "http://"+api+"/v1/jobs/"+done.ID+"?wait=60s", "", &done)
	if done.Status != "done" {
		t.Errorf("the job is %+v", done)
	}
}

// What waiting does not mend is told at once, by the setting where it is mended, and no password with it.
func TestWhatCannotBeOpenedIsNamed(t *testing.T) {
	for _, row := range []struct{ database, queue, says string }{
		{"postgres://u:secret@127.0.0.1:99999/db", "", "BELFRY_DATABASE_URL: "},
		{"postgres://u:secret@127.0.0.1:1/db?sslmode=some", "", "BELFRY_DATABASE_URL: "},
		{"postgres://u:secret@127.0.0.1:1/db", "", "BELFRY_DATABASE_URL: waited for PostgreSQL"},
		{"postgres://u:secret@127.0.0.1:1/db", "mem://", "BELFRY_QUEUE_*_URL: "},
		{"postgres://u:secret@127.0.0.1:1/db", "amqp://u:secret@127.0.0.1:1/?queue=one", "BELFRY_QUEUE_*_URL: "},
	} {
		clean(t)
		t.Setenv("BELFRY_DATABASE_URL", row.database)
		t.Setenv("BELFRY_START_WAIT", "0s")
		t.Setenv("BELFRY_ADDR", "127.0.0.1:0")
		t.Setenv("BELFRY_HEALTH_ADDR", "127.0.0.1:0")
		for _, priority := range []string{"CRITICAL", "DEFAULT", "BULK"} {
			if row.queue != "" {
				t.Setenv("BELFRY_QUEUE_"+priority+"_URL", row.queue)
			}
		}
		var log strings.Builder
		err := run(t.Context(), nil, io.Discard, &log)
		if err == nil || !strings.HasPrefix(err.Error(), row.says) || strings.Contains(err.Error()+log.String(), "secret") {
			t.Errorf("%+v: %v\n%s", row, err, log.String())
		}
	}
}

// Servers that come up before what they stand on wait for it, and say so.
func TestWaitsForWhatItStandsOn(t *testing.T) {
	clean(t)
	database := testenv.PostgresServer(t, pgserver.Options{})
	rabbit := testenv.RabbitServer(t)
	if err := rabbit.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := database.Stop(pgserver.Fast); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BELFRY_DATABASE_URL", database.URL())
	setRabbit(t, rabbit.Address())
	t.Setenv("BELFRY_START_WAIT", "0s")
	for _, args := range [][]string{{"migrate"}, {"-role", "worker"}} {
		t.Setenv("BELFRY_HEALTH_ADDR", "127.0.0.1:0")
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "waited for PostgreSQL as long as BELFRY_START_WAIT allows") {
			t.Errorf("%v: %v", args, err)
		}
	}
	t.Setenv("BELFRY_START_WAIT", "10m")
	s := start(t, "-role", "all")
	s.says(t, "waiting", "PostgreSQL")
	if err := database.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.says(t, "is up", "PostgreSQL")
	s.says(t, "waiting", "the queues")
	if err := rabbit.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.says(t, "is up", "the queues")
	s.says(t, "running", "")
}

func setRabbit(t *testing.T, address string) {
	address = strings.TrimSuffix(address, "/") + "/?queue=belfry."
	setQueues(t, address+"critical", address+"default", address+"bulk")
}

// What ran when the server was told to stop is due again, and no attempt is counted.
func TestStopHandsBack(t *testing.T) {
	clean(t)
	t.Setenv("BELFRY_DATABASE_URL", testenv.Postgres(t))
	t.Setenv("BELFRY_STOP_GRACE", "250ms")
	s := start(t, "-role", "all")
	api := "http://" + s.says(t, "running", "").API
	var held job
	call(t, "POST", api+"/v1/jobs", `{"type":"sleep","payload":{"ms":3600000}}`, &held)
	eventually(t, "the job runs", func() bool {
		call(t, "GET", api+"/v1/jobs/"+held.ID, "", &held)
		return held.Status == "running"
	})
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	next := start(t, "-role", "api", "-migrate=false")
	call(t, "GET", "http://"+next.says(t, "running", "").API+"/v1/jobs/"+held.ID, "", &held)
	if held.Status != "scheduled" || held.Attempts != 0 {
		t.Errorf("after the stop the job is %+v", held)
	}
}

// A server that is reached from outside does not start without a token.
func TestOutsideNeedsTokens(t *testing.T) {
	clean(t)
	t.Setenv("BELFRY_DATABASE_URL", testenv.Postgres(t))
	t.Setenv("BELFRY_ADDR", ":0")
	t.Setenv("BELFRY_HEALTH_ADDR", "127.0.0.1:0")
	if err := run(t.Context(), []string{"-role", "api"}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "BELFRY_TOKENS") {
		t.Errorf("started without a token: %v", err)
	}
}

// Healthy means more than being there: passes and claims succeed, and queues are received from.
func TestHealthTellsWhoMakesNoProgress(t *testing.T) {
	clean(t)
	database := testenv.PostgresServer(t, pgserver.Options{})
	rabbit := testenv.RabbitServer(t)
	t.Setenv("BELFRY_DATABASE_URL", database.URL())
	setRabbit(t, rabbit.Address())
	s := start(t, "-role", "all")
	health := s.says(t, "running", "").Health
	ask := func() (string, error) {
		var said strings.Builder
		err := boot.AskHealth(t.Context(), boot.Settings{HealthAddr: health}, &said)
		return said.String(), err
	}
	well := func() bool {
		said, err := ask()
		return err == nil && said == `{"status":"ok","roles":{"api":"ok","tick":"ok","worker":"ok"}}`+"\n"
	}
	eventually(t, "all roles are well", well)

	if err := rabbit.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the worker's queue is missed", func() bool {
		said, err := ask()
		return err != nil && strings.Contains(said, `"status":"failing"`) && strings.Contains(said, "queue has not been received from")
	})
	if err := rabbit.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all roles are well again", well)

	if err := database.Stop(pgserver.Fast); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nobody is well without the store", func() bool {
		said, err := ask()
		return err != nil && !strings.Contains(said, `"ok"`)
	})
	if err := database.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all roles are well with the store", well)
}

// The store may answer and the passes still fail.
func TestHealthSeesATickThatIsStuck(t *testing.T) {
	clean(t)
	database := testenv.Postgres(t)
	t.Setenv("BELFRY_DATABASE_URL", database)
	s := start(t, "-role", "tick,worker")
	health := s.says(t, "running", "").Health
	eventually(t, "both are well", func() bool { return boot.AskHealth(t.Context(), boot.Settings{HealthAddr: health}, io.Discard) == nil })
	lock := hold(t, database, "LOCK belfry.scheduler_leases IN ACCESS EXCLUSIVE MODE")
	eventually(t, "the tick is missed", func() bool {
		var said strings.Builder
		err := boot.AskHealth(t.Context(), boot.Settings{HealthAddr: health}, &said)
		return err != nil && strings.Contains(said.String(), "no pass of the tick has succeeded for") && strings.Contains(said.String(), `"worker":"ok"`)
	})
	lock()
	eventually(t, "both are well again", func() bool { return boot.AskHealth(t.Context(), boot.Settings{HealthAddr: health}, io.Discard) == nil })
	res, err := http.Get("http://" + health + "/v1/jobs")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("the health port answers more than health: %s", res.Status)
	}
}

// hold runs a statement in a transaction that the returned function, or the test's end, ends.
func hold(t *testing.T, database, statement string) (end func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() { _ = conn.Close(context.Background()) })
	t.Cleanup(end)
	if _, err := conn.Exec(t.Context(), "BEGIN; "+statement); err != nil {
		t.Fatal(err)
	}
	return end
}

// An API by itself takes jobs while RabbitMQ is away, and publishes those that are due at once when it is back.
func TestAPIPublishesByItself(t *testing.T) {
	clean(t)
	rabbit := testenv.RabbitServer(t)
	t.Setenv("BELFRY_DATABASE_URL", testenv.Postgres(t))
	setRabbit(t, rabbit.Address())
	if err := rabbit.Kill(); err != nil {
		t.Fatal(err)
	}
	api := "http://" + start(t, "-role", "api").says(t, "running", "").API
	var made job
	call(t, "POST", api+"/v1/jobs", `{"type":"echo","payload":1}`, &made)
	if made.Status != "queued" && made.Status != "scheduled" {
		t.Fatalf("without RabbitMQ: %+v", made)
	}
	if err := rabbit.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	start(t, "-role", "worker").says(t, "running", "") // and no tick
	var ran []string
	eventually(t, "a job runs without a tick", func() bool {
		call(t, "POST", api+"/v1/jobs", `{"type":"echo","payload":1}`, &made)
		ran = append(ran, made.ID)
		for _, id := range ran {
			var j job
			if call(t, "GET", api+"/v1/jobs/"+id, "", &j); j.Status == "done" {
				return true
			}
		}
		return false
	})
}

// Nothing says that it runs before it listens.
func TestAnAddressInUseIsToldBeforeItRuns(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, name := range []string{"BELFRY_ADDR", "BELFRY_HEALTH_ADDR"} {
		clean(t)
		t.Setenv("BELFRY_DATABASE_URL", "postgres://u@127.0.0.1:1/db")
		t.Setenv("BELFRY_ADDR", "127.0.0.1:0")
		t.Setenv("BELFRY_HEALTH_ADDR", "127.0.0.1:0")
		t.Setenv(name, taken.Addr().String())
		var log strings.Builder
		if err := run(t.Context(), nil, io.Discard, &log); err == nil || err.Error() != name+": listen on "+taken.Addr().String()+": address already in use" || strings.Contains(log.String(), "running") {
			t.Errorf("%s: %v\n%s", name, err, log.String())
		}
	}
}
