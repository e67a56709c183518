package postgres

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// keyedCalls are n calls under keys from a number on.
func keyedCalls(n, from int) []core.OnceCall {
	calls := make([]core.OnceCall, n)
	for i := range calls {
		key := fmt.Sprint("key ", from+i)
		calls[i] = core.OnceCall{Key: core.IdempotencyKey{Holder: "h", Key: key, Hash: sha256.Sum256([]byte(key)), Keep: time.Hour}, Job: core.NewJob{Type: "echo"}}
	}
	return calls
}

func costStore(t *testing.T) (*Store, string) {
	address := testenv.Postgres(t)
	if err := Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store, err := Open(t.Context(), address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store, address
}

// A job under a key costs one row and two index entries more than one without, each a record of the write-ahead log.
func TestWriteAheadLogOfKeyedJobs(t *testing.T) {
	const n = 200
	store, address := costStore(t)
	e := newExplainer(t, store, address)
	plain := e.explain(true, func(s *Store) error { _, err := s.Submit(t.Context(), make([]core.NewJob, n)); return err })
	keyed := e.explain(true, func(s *Store) error { _, err := s.SubmitOnceEach(t.Context(), keyedCalls(n, 0)); return err })
	if len(plain) != 1 || len(keyed) != 1 {
		t.Fatalf("%d and %d statements", len(plain), len(keyed))
	}
	written := func(x explained) (records, bytes float64) {
		x.plan.walk(func(node plan) {
			if node.Node == "ModifyTable" {
				records, bytes = records+node.Records/n, bytes+node.Bytes/n
			}
		})
		return records, bytes
	}
	pRecords, pBytes := written(plain[0])
	kRecords, kBytes := written(keyed[0])
	t.Logf("each job: %.2f and %.2f records, %.0f and %.0f bytes", pRecords, kRecords, pBytes, kBytes)
	if pRecords < 2 || kRecords < pRecords+2.5 || kRecords > 2.1*pRecords || kBytes > 2.3*pBytes {
		t.Errorf("records: %.2f without keys, %.2f with; bytes: %.0f and %.0f", pRecords, kRecords, pBytes, kBytes)
	}
	for _, x := range keyed {
		x.plan.walk(func(node plan) {
			if slices.Contains([]string{"Sort", "Hash", "Hash Join", "Merge Join", "Nested Loop"}, node.Node) {
				t.Errorf("the statement has a %s", node.Node)
			}
		})
	}
}

// A group of new keys is one statement. One that meets a known key takes two more, and the groups after it one more at most.
func TestStatementsOfKeyedJobs(t *testing.T) {
	store, _ := costStore(t)
	var sent []string
	store.intercept = func(calls []wire.Call) error {
		for _, c := range calls {
			for name, text := range store.sql {
				if text == c.SQL && name != "guard" {
					sent = append(sent, name)
				}
			}
		}
		return nil
	}
	check := func(name string, want []string, calls []core.OnceCall, replayed int) {
		t.Helper()
		sent = nil
		answers, err := store.SubmitOnceEach(t.Context(), calls)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sent, want) {
			t.Errorf("%s: sent %q, want %q", name, sent, want)
		}
		for i, a := range answers {
			if a.Err != nil || a.Replayed != (i < replayed) {
				t.Errorf("%s: call %d: %+v", name, i, a)
			}
		}
	}
	check("new keys", []string{"submit_once_fresh"}, keyedCalls(50, 0), 0)
	check("a known key", []string{"submit_once_fresh", "submit_once", "find_keys"}, keyedCalls(50, 49), 1)
	check("another", []string{"submit_once", "find_keys"}, keyedCalls(50, 98), 1)
	for i := range carefulGroups {
		check("new keys after it", []string{"submit_once"}, keyedCalls(1, 1000+i), 0)
	}
	check("new keys long after it", []string{"submit_once_fresh"}, keyedCalls(50, 2000), 0)
}
