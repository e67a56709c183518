package postgres_test

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// What is damaged under a key is the fault of its own call: it is no reason to try again, and its neighbours go on.
func TestDamagedKeysStopNoNeighbour(t *testing.T) {
	address := migrated(t)
	store, admin := open(t, address), connect(t, address)
	key := func(name string) core.IdempotencyKey {
		return core.IdempotencyKey{Holder: "h", Key: name, Hash: sha256.Sum256([]byte(name)), Keep: time.Hour}
	}
	render := func([]core.Submitted) (core.Answer, error) { return core.Answer{Status: 201, Body: []byte("{}")}, nil }
	if _, err := store.SubmitOnceEach(t.Context(), []core.OnceCall{{Key: key("one"), Job: core.NewJob{Type: "a"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.SubmitOnce(t.Context(), key("alone"), []core.NewJob{{Type: "a"}}, render); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{`answer = ''`, `answer = '{}'`, `answer = '\x02'`, `answer = substr(answer, 1, 12)`, `answer = '\x02'::bytea || repeat('x', 60)::bytea`} {
		script(t, admin, "BEGIN; CREATE TABLE IF NOT EXISTS public.kept AS SELECT * FROM belfry.idempotency_keys; UPDATE belfry.idempotency_keys SET "+damage+"; COMMIT")
		answers, err := store.SubmitOnceEach(t.Context(), []core.OnceCall{
			{Key: key("before " + damage), Job: core.NewJob{Type: "a"}}, {Key: key("one"), Job: core.NewJob{Type: "a"}}, {Key: key("after " + damage), Job: core.NewJob{Type: "a"}},
		})
		if err != nil || answers[0].Err != nil || answers[2].Err != nil || !errors.Is(answers[1].Err, core.ErrKeyDamaged) {
			t.Errorf("%s: %v, %+v", damage, err, answers)
		}
		if _, err := store.SubmitOnce(t.Context(), key("alone"), []core.NewJob{{Type: "a"}}, render); !errors.Is(err, core.ErrKeyDamaged) {
			t.Errorf("%s, alone: %v", damage, err)
		}
		script(t, admin, "UPDATE belfry.idempotency_keys k SET answer = o.answer FROM public.kept o WHERE k.key = o.key")
	}
	if _, err := admin.Exec(t.Context(), "CREATE EXTENSION IF NOT EXISTS pg_surgery"); err != nil {
		testenv.NotInstalled(t, "pg_surgery", err)
	}
	script(t, admin, `UPDATE belfry.idempotency_keys SET answer = '\x02'::bytea || repeat('x', 5000)::bytea WHERE key = 'one';
DO $$ DECLARE apart regclass := (SELECT reltoastrelid FROM pg_class WHERE oid = 'belfry.idempotency_keys'::regclass); places tid[]; BEGIN
    EXECUTE format('SELECT array_agg(ctid) FROM %s', apart) INTO places;
    PERFORM heap_force_kill(apart, places);
END $$`)
	sound := core.OnceCall{Key: key("sound"), Job: core.NewJob{Type: "a"}}
	if _, err := store.SubmitOnceEach(t.Context(), []core.OnceCall{sound}); err != nil {
		t.Fatal(err)
	}
	answers, err := store.SubmitOnceEach(t.Context(), []core.OnceCall{
		{Key: key("first"), Job: core.NewJob{Type: "a"}}, {Key: key("one"), Job: core.NewJob{Type: "a"}}, {Key: key("last"), Job: core.NewJob{Type: "a"}},
		sound,
	})
	if err != nil || answers[0].Err != nil || answers[2].Err != nil || answers[3].Err != nil || !answers[3].Replayed || !errors.Is(answers[1].Err, core.ErrKeyDamaged) {
		t.Errorf("a part of it is gone: %v, %+v", err, answers)
	}
	script(t, admin, "UPDATE belfry.idempotency_keys SET status = 999 WHERE key = 'alone'")
	if _, err := store.SubmitOnce(t.Context(), key("alone"), []core.NewJob{{Type: "a"}}, render); !errors.Is(err, core.ErrKeyDamaged) {
		t.Errorf("a status that is none: %v", err)
	}
}
