package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// damagedSchedules are what is written into schedules by hand, by their names.
var damagedSchedules = map[string]string{
	"bad-moves":  "moves = 9223372036854775807",
	"bad-anchor": "anchor = '-infinity'",
	"bad-rule":   "rule = '[]'",
	"bad-zone":   `rule = '{"cron": "* * * * *", "time_zone": "Europe/Atlantis", "type": "work"}'`,
}

// namedSchedule is the one of them that an alert must name. The others may be mended by an advance that was under way.
const namedSchedule = "bad-rule"

// columns of a job that was dispatched, or has ended, written by hand.
const job = "(id, type, payload, priority, run_at, created_at, max_attempts, attempts, status, lease_token, lease_until, reap_at)"

// triggers refuse some types. They are made before anything runs: to make one waits for all that use the table.
var triggers = []string{
	`CREATE EXTENSION IF NOT EXISTS pg_surgery`,
	`CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused by a trigger'; END $$`,
	`CREATE TRIGGER refuse BEFORE UPDATE ON belfry.jobs FOR EACH ROW WHEN (old.type = 'refused') EXECUTE FUNCTION public.refuse()`,
	`CREATE TRIGGER refuse BEFORE INSERT ON belfry.job_history FOR EACH ROW WHEN (new.type = 'unrecorded') EXECUTE FUNCTION public.refuse()`,
	`CREATE TRIGGER refuse BEFORE DELETE ON belfry.dead_letters FOR EACH ROW WHEN (old.type = 'kept') EXECUTE FUNCTION public.refuse()`,
}

// damages are statements that damage a row of each table. Of jobs the ids stand in {payload}, {refused}, {refused2},
// {unrecorded}, {endless}, {twin} and {token}.
var damages = []string{
	// Jobs: a payload that is lost (see losePayload), a trigger that refuses a type, one that refuses its history, a lease
	// that never ends, a dead letter of the same id, numbers that have no successor.
	`INSERT INTO belfry.jobs (id, type, payload, run_at) VALUES ({payload}, 'work', '{}', now() + interval '1 hour'), ({refused}, 'refused', '{}', now()), ({refused2}, 'refused', '{}', now()),
		({unrecorded}, 'unrecorded', '{}', now())`,
	`INSERT INTO belfry.jobs ` + job + ` VALUES ({endless}, 'work', '{}', 2, now(), now(), 5, 1, 3, 1, 'infinity', 'infinity'), ({twin}, 'work', '{}', 2, now(), now(), 1, 1, 3, 1, now(), now()),
		({token}, 'work', '{}', 2, now(), now(), 2147483647, 2147483646, 1, 9223372036854775807, '-infinity', '-infinity')`,
	`INSERT INTO belfry.dead_letters (id, run_at, created_at, finished_at, lease_token, ended_token, claim_id, dispatch_fence, attempts, max_attempts, snoozes, dispatches, status, priority, type,
		tenant, payload) SELECT {twin}, now(), now(), now(), 1, 0, 0, 0, 1, 1, 0, 0, 5, 2, 'twin', '', '{}'`,
	// What upkeep and the watch meet.
	`INSERT INTO belfry.dead_letters (id, run_at, created_at, finished_at, lease_token, ended_token, claim_id, dispatch_fence, attempts, max_attempts, snoozes, dispatches, status, priority, type,
		tenant, payload) SELECT 0, 'epoch', 'epoch', 'epoch', 1, 0, 0, 0, 1, 1, 0, 0, 5, 2, 'kept', '', '{}'`,
	`INSERT INTO belfry.alerts (kind, tenant, subject, detail, raised_at, count) VALUES ('job_failed', '', 'work/', 'damaged', 'epoch', 9223372036854775807)`,
	`INSERT INTO belfry.failure_notes (type, error_group, count, newest, at) VALUES ('work', '', 9223372036854775807, 0, now()), ('work', '', 9223372036854775807, 0, '-infinity')`,
	`INSERT INTO belfry.idempotency_keys (holder, key, hash, status, answer, expires_at) VALUES ('', 'damaged', '', -1, '', '-infinity')`,
	`INSERT INTO belfry.occurrences (schedule_id, from_at, to_at, count, outcome, at) VALUES (-1, 'infinity', '-infinity', 9223372036854775807, 'none', 'infinity')`,
	// What every process reads and adds to.
	`INSERT INTO belfry.job_types (type, announced_at, unhandled_until, unhandled_wait, defined_at, timeout, max_attempts, backoff)
		VALUES ('damaged', 'infinity', '-infinity', '-100000000 years', '-infinity', 9223372036854775807, -1, '{NULL}')`,
	`INSERT INTO belfry.workers (id, types, slots, since, seen_at) VALUES ('damaged', '{NULL}', -2147483648, '-infinity', 'infinity')`,
	`INSERT INTO belfry.rollups (minute, priority, type, shard, starts, done, failed, retried, cancelled, lost, snoozed, lag, lag_sum)
		SELECT date_trunc('minute', now()), 2, 'work', s, n, n, n, n, n, n, n, '{NULL}', n FROM generate_series(0, 1) s, (VALUES (9223372036854775807)) v (n) ON CONFLICT DO NOTHING`,
	`UPDATE belfry.rollup_totals SET done = 9223372036854775807, lag_sum = 9223372036854775807`,
	`UPDATE belfry.scheduler_leases SET holder = 'nobody', clean = false, expires_at = 'infinity' WHERE bucket = 7`,
	`INSERT INTO belfry.set_apart (kind, row_id, act, error, tries, first_at, retry_at) VALUES ('job', {endless}, 'claim', 'damaged', 2147483647, '-infinity', '-infinity')`,
}

// mends take back what would never end by itself, and let it be met at once.
var mends = []string{
	`DROP FUNCTION IF EXISTS public.refuse() CASCADE`,
	`UPDATE belfry.jobs SET payload = '{}' WHERE id = {payload}`,
	// The longer it was not started, the later it would be published again.
	`UPDATE belfry.jobs SET status = 1, run_at = now() WHERE id IN ({payload}, {refused}, {refused2}, {unrecorded}) AND status < 3`,
	`DELETE FROM belfry.dead_letters WHERE type IN ('twin', 'kept')`,
	`DELETE FROM belfry.schedules`,
	`UPDATE belfry.set_apart SET retry_at = '-infinity'`,
}

// losePayload takes away what the server keeps apart of a payload, so that reading it raises an error. It needs the
// extension pg_surgery.
const losePayload = `
DO $$
DECLARE
    apart  regclass := (SELECT reltoastrelid FROM pg_class WHERE oid = 'belfry.jobs'::regclass);
    before oid[];
    places tid[];
BEGIN
    EXECUTE format('SELECT array_agg(DISTINCT chunk_id) FROM %s', apart) INTO before;
    UPDATE belfry.jobs SET payload = (SELECT to_json(string_agg(md5(n::text), '')) FROM generate_series(1, 1000) n) WHERE id = {payload};
    EXECUTE format('SELECT array_agg(ctid) FROM %s WHERE chunk_id <> ALL ($1)', apart) INTO places USING coalesce(before, '{}');
    PERFORM heap_force_kill(apart, places);
    UPDATE belfry.jobs SET run_at = now() WHERE id = {payload};
END
$$`

// named are the places in damages of jobs that must be set apart. Of the others endless and token end as they are, and
// the worker that cannot record the end of unrecorded names it after so many tries that it is mostly killed before.
var named, unnamed = []string{"payload", "refused", "refused2", "twin"}, []string{"unrecorded", "endless", "token"}

// damage does all of it, in one transaction.
func (t *trouble) damage(ctx context.Context, conn *pgx.Conn) error {
	var places []string
	strange := map[int64]bool{}
	t.places = map[string]int64{}
	for _, place := range append(append([]string{}, named...), unnamed...) {
		var id int64
		if err := conn.QueryRow(ctx, "SELECT nextval('belfry.job_ids')").Scan(&id); err != nil {
			return err
		}
		strange[id], t.places[place] = true, id
		places = append(places, "{"+place+"}", fmt.Sprint(id))
	}
	for name, change := range damagedSchedules {
		if _, err := conn.Exec(ctx, "UPDATE belfry.schedules SET "+change+" WHERE name = $1", name); err != nil {
			return err
		}
	}
	for _, text := range append(append([]string{}, damages...), losePayload) {
		if _, err := conn.Exec(ctx, strings.NewReplacer(places...).Replace(text)); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	t.strange, t.ids = strange, strings.NewReplacer(places...)
	return nil
}

func makeTriggers(ctx context.Context, conn *pgx.Conn) error {
	for _, text := range triggers {
		if _, err := conn.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// mend takes the damage back, so that all jobs can end, and ends the schedules.
func (t *trouble) mend(ctx context.Context, conn *pgx.Conn) error {
	for _, text := range mends {
		if t.ids != nil {
			text = t.ids.Replace(text)
		} else if strings.Contains(text, "{") {
			continue
		}
		if _, err := conn.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
