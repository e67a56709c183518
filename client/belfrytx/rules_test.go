package belfrytx_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/client/belfrytx"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/rulestest"
)

// newJob converts a case to the client's form; some cases have none.
func newJob(c rulestest.Case) (j client.NewJob, ok bool) {
	if c.Job == nil || c.Job.Trace != "" {
		return j, false
	}
	j = client.NewJob{
		Type: c.Job.Type, Tenant: c.Job.Tenant, RunAt: c.Job.RunAt, Delay: c.Job.Delay, DedupeKey: c.Job.DedupeKey, MaxAttempts: c.Job.MaxAttempts,
		Timeout: c.Job.Timeout, ExpiresAt: c.Job.ExpiresAt, Backoff: c.Job.Backoff, Tags: c.Job.Tags,
	}
	if c.Job.Payload != nil {
		j.Payload = c.Job.Payload
	}
	if c.Job.Priority != 0 {
		j.Priority = client.Priority(c.Job.Priority.String())
	}
	if c.Job.Target != nil {
		again, err := []byte(nil), json.Unmarshal(c.Job.Target, &j.Target)
		if err == nil {
			again, err = json.Marshal(j.Target)
		}
		if err != nil || j.Target == nil || string(again) != string(c.Job.Target) {
			return j, false // client.Target cannot express this
		}
	}
	return j, true
}

// The table of HTTP and SQL holds here too. A refused job was not sent to the server, so the transaction stays usable.
func TestRules(t *testing.T) {
	store, address := openStore(t)
	conn := connect(t, address, pgx.QueryExecModeCacheStatement)
	rows, now := 0, time.Now()
	kept := map[string]rulestest.Case{}
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		for _, c := range rulestest.Cases(now) {
			job, ok := newJob(c)
			if !ok {
				continue
			}
			rows++
			s, err := belfrytx.SubmitTx(t.Context(), tx, job)
			var fields client.FieldErrors
			switch {
			case c.Field == "" && err != nil:
				return errors.Join(errors.New(c.Name), err)
			case c.Field == "":
				kept[s.ID] = c
			case !errors.As(err, &fields) || fields[0].Field != c.Field:
				t.Errorf("%s: want %s at fault, got %v", c.Name, c.Field, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, c := range kept {
		want, err := core.CheckNewJob(*c.Job, core.JobType{}, now)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if fields := rulestest.Differences(want.NewJob(), read(t, store, id)); fields != nil {
			t.Errorf("%s: not kept as it came: %v", c.Name, fields)
		}
	}
	if rows < 120 || len(kept) < 60 {
		t.Errorf("%d rows, %d kept", rows, len(kept))
	}
}

// A job takes missing values from its type's definition, and a job with a target marks its type.
func TestWhatTheTypeSays(t *testing.T) {
	store, address := openStore(t)
	conn := connect(t, address, pgx.QueryExecModeCacheStatement)
	definition := core.JobType{Name: "a", Timeout: time.Minute, MaxAttempts: 9, Backoff: []time.Duration{time.Second, time.Hour}}
	if _, _, err := store.PutType(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	var all []belfrytx.Submitted
	jobs := []client.NewJob{
		{Type: "a"}, {Type: "a", MaxAttempts: 5, Timeout: time.Second, Backoff: []time.Duration{time.Millisecond}}, {Type: "b", Target: &client.Target{URL: "https://example.com"}},
	}
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) (err error) {
		all, err = belfrytx.SubmitBatchTx(t.Context(), tx, jobs)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if j := read(t, store, all[0].ID); j.MaxAttempts != 9 || j.Timeout != time.Minute || !slices.Equal(j.Backoff, definition.Backoff) {
		t.Errorf("a job that says nothing: %+v", j)
	}
	if j := read(t, store, all[1].ID); j.MaxAttempts != 5 || j.Timeout != time.Second || !slices.Equal(j.Backoff, jobs[1].Backoff) {
		t.Errorf("a job that says all: %+v", j)
	}
	types, err := store.Types(t.Context())
	if err != nil || !slices.ContainsFunc(types, func(d core.JobType) bool { return d.Name == "b" && d.Delivered }) {
		t.Errorf("types %+v, %v", types, err)
	}
	if _, err := strconv.ParseInt(all[2].ID, 10, 64); err != nil {
		t.Error(err)
	}
}

// Times are compared with the database's clock, as in belfry.submit, not with this process's: here in a transaction that began
// before the job expires.
func TestTimesAreJudgedByTheDatabase(t *testing.T) {
	_, address := openStore(t)
	conn := connect(t, address, pgx.QueryExecModeCacheStatement)
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		var began time.Time
		if err := tx.QueryRow(t.Context(), "SELECT now()").Scan(&began); err != nil {
			return err
		}
		_, err := belfrytx.SubmitTx(t.Context(), tx, client.NewJob{Type: "a", ExpiresAt: began.Add(time.Microsecond)})
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
