package belfrytx_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/client/belfrytx"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// Jobs from SQL, from Go and over HTTP run alike, and every interface can read and cancel them.
func TestJobsFromEverywhereRunAlike(t *testing.T) {
	_, address := openStore(t)
	node, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(nodetest.StartOn(t, "all", node), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, address, pgx.QueryExecModeCacheStatement)
	job := client.NewJob{Type: "echo", Payload: map[string]any{"n": 1}, Tenant: "t", Tags: []string{"x"}, Timeout: time.Minute, Backoff: []time.Duration{time.Second}, Priority: client.Critical}
	overHTTP, err := c.Submit(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	var fromGo belfrytx.Submitted
	var fromSQL, later int64
	err = pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) (err error) {
		if fromGo, err = belfrytx.SubmitTx(t.Context(), tx, job); err != nil {
			return err
		}
		return tx.QueryRow(t.Context(), `SELECT belfry.submit('echo', '{"n":1}', tenant => 't', tags => '{x}', timeout => '1 min', backoff => '{1s}', priority => 'critical'),
			belfry.submit('echo', delay => '1 day')`).Scan(&fromSQL, &later)
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	said := map[string]bool{}
	for _, id := range []string{overHTTP.ID, fromGo.ID, strconv.FormatInt(fromSQL, 10)} {
		j, err := c.Wait(ctx, id)
		if err != nil || j.Status != client.Done || string(j.Result) != `{"n":1}` {
			t.Errorf("%+v, %v", j, err)
			continue
		}
		said[fmt.Sprint(j.Type, string(j.Payload), j.Tenant, j.Tags, j.Timeout, j.Backoff, j.Priority, j.Attempts, j.MaxAttempts)] = true
	}
	if len(said) != 1 {
		t.Errorf("the three differ: %v", said)
	}
	if j, err := c.Cancel(ctx, strconv.FormatInt(later, 10)); err != nil || j.Status != client.Cancelled {
		t.Errorf("cancel over HTTP: %+v, %v", j, err)
	}
	waits, err := c.Submit(ctx, client.NewJob{Type: "echo", Delay: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var word string
	if err := conn.QueryRow(ctx, "SELECT belfry.cancel($1)", waits.ID).Scan(&word); err != nil || word != "cancelled" {
		t.Errorf("cancel from SQL: %q, %v", word, err)
	}
	if j, err := c.Wait(ctx, waits.ID); err != nil || j.Status != client.Cancelled {
		t.Errorf("%+v, %v", j, err)
	}
}
