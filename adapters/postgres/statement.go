package postgres

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// statements are the texts of sql/ by file name, ready to send.
type statements map[string]string

// Sums of counts end at the greatest number there is: one that was damaged raises no error.
var (
	sumMark   = regexp.MustCompile(`\{sum ([a-z_.]+)\}`)
	newIDMark = regexp.MustCompile(`\{new_id (\$\d+)\}`)
	addMark   = regexp.MustCompile(`\{add ([a-z_]+)\}`)
)

// allStatements are made once in a process, when they are first wanted. Nobody changes them.
var allStatements = sync.OnceValues(loadStatements)

// loadStatements reads every file: comments are cut, and the shared parts named in braces put in, but for {missing_rights};
// see withRights.
func loadStatements() (statements, error) {
	files, err := sqlFiles.ReadDir("sql")
	if err != nil {
		return nil, err
	}
	all := statements{}
	for _, file := range files {
		text, err := sqlFiles.ReadFile(path.Join("sql", file.Name()))
		if err != nil {
			return nil, err
		}
		var lines []string
		for line := range strings.SplitSeq(string(text), "\n") {
			if line, _, _ = strings.Cut(line, "--"); strings.TrimSpace(line) != "" {
				lines = append(lines, strings.TrimRight(line, " "))
			}
		}
		all[strings.TrimSuffix(file.Name(), ".sql")] = strings.Join(lines, "\n")
	}
	for name, text := range all {
		text = sumMark.ReplaceAllString(text, "least(sum($1), 9223372036854775807)::bigint")
		text = newIDMark.ReplaceAllString(text, newJobID)
		all[name] = addMark.ReplaceAllString(text, "least(r.$1::numeric + excluded.$1, 9223372036854775807)::bigint")
	}
	parts := strings.NewReplacer(
		"{now}", "(now() + $1::interval)",
		"{record}", recordColumns,
		"{live}", recordColumns+", "+liveColumns,
		"{ended}", recordColumns+", "+endedColumns,
		"{may_run}", mayRun,
		"{schedule}", scheduleColumns,
		"{next_token}", nextToken,
		"{sound}", "id NOT IN (SELECT row_id FROM belfry.set_apart WHERE kind = 'job' AND retry_at > (now() + $1::interval))",
		"{alert_sound}", "id NOT IN (SELECT row_id FROM belfry.set_apart WHERE kind = 'alert' AND retry_at > (now() + $1::interval))",
		"{schedule_sound}", "id NOT IN (SELECT row_id FROM belfry.set_apart WHERE kind = 'schedule' AND retry_at > (now() + $1::interval))",
		"{apart_over}", apartOver,
		"{apart_again}", apartAgain,
		"{passed}", leasePassed(""),
		"{j.passed}", leasePassed("j."),
		"{f.passed}", leasePassed("f."),
		"{never}", farAhead,
		"{missing_to_maintain}", missingToMaintain,
		"{due}", dueOfLane,
		"{due_targets}", strings.ReplaceAll(dueOfLane, "(SELECT FROM", "(SELECT target IS NOT NULL AS targeted FROM"),
		"{definition}", typeColumns,
		"{sequences_behind}", sequencesBehind,
		"{holder}", strings.Replace(recordColumns, " payload,", holderPayload, 1)+", "+liveColumns,
		"{brief}", withoutLarge(recordColumns, "payload json", "target json", "errors json", "covers json", "tags text[]", "backoff bigint[]"),
		"{j.all_but_errors}", ofJob(colID, "j.id", colErrors),
		"{j.attempt}", ofJob(colEndedToken, "j.lease_token AS ended_token", colErrors),
		"{j.given_up}", strings.Replace(ofJob(colEndedToken, "j.lease_token AS ended_token", colErrors), "j.attempts", "CASE WHEN l.outcome = 5 THEN greatest(j.attempts, 1) - 1 ELSE j.attempts END AS attempts", 1),
		"{j.raised}", ofJob(colLeaseToken, "least(j.lease_token, 9223372036854775806) + 1 AS lease_token", recordWidth),
	)
	all.vary("{targeted}", "", "AND target IS NOT NULL", targetedSuffix)
	all.vary("{j.targeted}", "", "AND j.target IS NOT NULL", targetedSuffix)
	all.addUnread()
	all.vary("{where_published}", "WHERE "+published, "", ofAllSuffix)
	for name, text := range all {
		all[name] = parts.Replace(fleetParts.Replace(text))
	}
	all.addKept()
	all.vary("{of_lost}", withoutLarge(recordColumns, "payload json", "target json", "covers json", "tags text[]")+", "+liveColumns, "id, type", idsSuffix)
	const dueSchedule = scheduleColumns + ", s.exclusive AND EXISTS (SELECT FROM belfry.jobs j WHERE j.tenant = s.tenant AND j.schedule = s.name)"
	const listedSchedule = scheduleColumns + ", EXISTS (SELECT FROM belfry.jobs j WHERE j.tenant = s.tenant AND j.schedule = s.name)"
	all.vary("{listed_schedule}", listedSchedule, "s.id, s.name, s.tenant", idsSuffix)
	all.vary("{due_schedule}", dueSchedule, "s.id, s.name", idsSuffix)
	all.vary("{skip_locked}", "SKIP LOCKED", "", waitingSuffix)
	all.vary("{history}", "job_history", "job_history_overflow", overflowSuffix)
	all.vary("{note_failures}", noteFailures, "SELECT", unnotedSuffix)
	all.addLists()
	all.addDeadWays()
	return all, nil
}

// addUnread makes of the statements that show single jobs forms that read no value which is kept apart from its row: what
// such a value raises they do not.
func (s statements) addUnread() {
	large := []string{"payload json", "target json", "errors json", "covers json", "tags text[]", "backoff bigint[]"}
	brief := withoutLarge(recordColumns, large...)
	raised := strings.NewReplacer("lease_token,", "least(lease_token, 9223372036854775806) + 1 AS lease_token,", "NULL::json AS payload", "'null'::json AS payload").Replace(brief)
	list := strings.NewReplacer("{record}", brief, " result,", " NULL::json AS result,")
	single := strings.NewReplacer("{live}", brief+", "+liveColumns, "{ended}", brief+", "+strings.Replace(endedColumns, " result,", " NULL::json AS result,", 1), "{j.raised}", raised)
	for _, name := range []string{"list", "list_in_flight"} {
		s[name+unreadSuffix] = list.Replace(s[name])
	}
	for _, name := range []string{"get", "cancel"} {
		s[name+unreadSuffix] = single.Replace(s[name])
	}
}

// vary makes two statements of each that has the mark: one with the usual text there, and under its name with the
// suffix one with the other text.
func (s statements) vary(mark, usual, other, suffix string) {
	for name, text := range maps.Clone(s) {
		if strings.Contains(text, mark) {
			s[name] = strings.ReplaceAll(text, mark, usual)
			s[name+suffix] = strings.ReplaceAll(text, mark, other)
		}
	}
}

// ofJob are the first n columns of {record} of the table j, the one at place with another value.
func ofJob(place int, value string, n int) string {
	columns := strings.Split(recordColumns, ",")
	for i, c := range columns {
		columns[i] = "j." + strings.TrimSpace(c)
	}
	columns[place] = value
	return strings.Join(columns[:n], ", ")
}

// farAhead is beyond any lease that this program writes.
var farAhead = fmt.Sprintf("(now() + $1::interval + interval '%d s')", int64(core.MaxLease.Seconds()))

// leasePassed says that the lease of a row has passed. One that ends later than any that is written is nobody's.
func leasePassed(table string) string {
	return "(" + table + "lease_until <= (now() + $1::interval) OR " + table + "lease_until > " + farAhead + ")"
}

// withoutLarge are columns with nulls in the place of those that may be kept apart from their row, each with its type: what is
// not needed is not read.
func withoutLarge(columns string, large ...string) string {
	list := strings.Split(columns, ",")
	for i, c := range list {
		for _, l := range large {
			if name, typ, _ := strings.Cut(l, " "); name == strings.TrimSpace(c) {
				list[i] = " NULL::" + typ + " AS " + name
			}
		}
	}
	return strings.Join(list, ",")
}

// unreadSuffix names the form of a statement that leaves large values unread.
const unreadSuffix = "_unread"

// waitingSuffix names the form of a statement that waits for locked rows, up to the lock timeout, instead of
// passing over them.
const waitingSuffix = "_waiting"

// overflowSuffix names the form of a statement that ends jobs on a day without a history partition.
const overflowSuffix = "_overflow"

// unnotedSuffix names the form of a statement that notes no failures.
const unnotedSuffix = "_unnoted"

// noteFailures has the tick raise alerts of jobs that failed for good.
const noteFailures = `INSERT INTO belfry.failure_notes (type, error_group, count, newest, at)
    SELECT type, error_group, count(*), max(id), now() + $1::interval FROM failed GROUP BY type, error_group`

// targetedSuffix names the form of a statement that passes over jobs without a target of their own.
const targetedSuffix = "_targeted"

// ofAllSuffix names the form of a statement that leaves out no types.
const ofAllSuffix = "_of_all"

// idsSuffix names the form of a statement that reads no more of its rows than their ids and types.
const idsSuffix = "_ids"

var keptRows = regexp.MustCompile(`(?s)(?:ARRAY|IN )\(SELECT ((?:id|ctid|row_id)\b|kind, row_id, name)(.*?) FOR +UPDATE SKIP LOCKED\)`)

// addKept makes of each statement that drops rows one that names those that it would drop.
func (s statements) addKept() {
	for name, text := range maps.Clone(s) {
		if !strings.HasPrefix(name, "drop_") || !strings.Contains(text, "OFFSET") {
			continue
		}
		if m := keptRows.FindStringSubmatch(text); m != nil {
			column := m[1]
			if column == "kind, row_id, name" {
				column = "row_id"
			}
			s[name+idsSuffix] = "SELECT " + column + "::text" + m[2]
		}
	}
}

// call is the statement of that name as part of a pipeline. A name without a file is a mistake in this package.
func (s statements) call(name string, args *wire.Args, each func(wire.Row) error) wire.Call {
	text, ok := s[name]
	if !ok {
		panic("postgres: no statement " + name)
	}
	return wire.Call{SQL: text, Args: args, Each: each}
}

// The shared parts. $1 is the clock's offset in every statement that has a now. The columns are in the order
// in which jobrow.go reads them.
const (
	recordColumns = `id, run_at, created_at, started_at, expires_at, lease_token, ended_token, claim_id, dispatch_fence,
    attempts, max_attempts, snoozes, dispatches, priority, type, tenant, payload, timeout, backoff, dedupe_key, worker_id,
    target, tags, trace, schedule, scheduled_for, covers, errors`
	liveColumns  = `status, lease_until, cancel_wanted, NULL::timestamptz AS finished_at, NULL::json AS result, NULL::text AS reason`
	endedColumns = `status, '-infinity'::timestamptz AS lease_until, false AS cancel_wanted, finished_at, result, reason`
	// The size as it is stored comes first: it is known without reading the payload.
	holderPayload = ` CASE WHEN $3 OR pg_column_size(payload) <= 4096 AND octet_length(payload::text) <= 4096 THEN payload END AS payload,`
	dueOfLane     = `(SELECT FROM belfry.jobs WHERE status = 1 AND priority = l.priority AND type = l.type AND tenant = '' AND run_at <= (now() + $1::interval) ORDER BY run_at LIMIT $2)
            UNION ALL
            (SELECT FROM belfry.jobs WHERE status = 1 AND priority = l.priority AND type = l.type AND tenant <> '' AND run_at <= (now() + $1::interval) ORDER BY run_at LIMIT $2)`
	nextToken = `(least(lease_token, 9223372036854775806) + 1)`
	mayRun    = `(attempts < max_attempts AND (expires_at IS NULL OR expires_at > (now() + $1::interval)))`
)
