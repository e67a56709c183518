package wire_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// The statements of a call: a setting, and rows that go as arrays and come back as rows.
const (
	benchGuard = "SELECT set_config('lock_timeout', $1::text, true)"
	benchRows  = `SELECT row_number() OVER (), at, type, payload, priority, tenant, attempts
FROM unnest($1::text[], $2::json[], $3::int8[], $4::text[], $5::timestamptz[], $6::int8[]) AS g (type, payload, priority, tenant, at, attempts)`
)

// benchJob is what the benchmark sends and reads.
type benchJob struct {
	id                 int64
	at                 time.Time
	kind               string
	payload            []byte
	priority, attempts int64
	tenant             string
}

func benchJobs(n int) []benchJob {
	jobs := make([]benchJob, n)
	for i := range jobs {
		jobs[i] = benchJob{0, time.UnixMicro(1_700_000_000_000_000 + int64(i)), "email.send", []byte(`{"to": "someone@example.org"}`), 2, 3, "acme"}
	}
	return jobs
}

// BenchmarkPipeline sends 1, 16 and 200 rows and reads them back, by this package and by pgx.Batch; both prepare the
// statements, and both take one round trip.
func BenchmarkPipeline(b *testing.B) {
	conn, err := pgx.Connect(b.Context(), testenv.Postgres(b))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(b.Context()) })
	wire.Prepare(conn.PgConn())
	for _, n := range []int{1, 16, 200} {
		for _, way := range []struct {
			name string
			send func(*testing.B, *pgx.Conn, []benchJob) int
		}{{"wire", sendByWire}, {"pgx.Batch", sendByBatch}} {
			b.Run(fmt.Sprintf("%d/%s", n, way.name), func(b *testing.B) {
				jobs := benchJobs(n)
				b.ReportAllocs()
				for b.Loop() {
					if got := way.send(b, conn, jobs); got != n {
						b.Fatalf("%d rows of %d", got, n)
					}
				}
			})
		}
	}
}

func sendByWire(b *testing.B, conn *pgx.Conn, jobs []benchJob) int {
	a := wire.NewArgs(6)
	wire.Texts(a, jobs, func(j *benchJob) string { return j.kind })
	wire.JSONs(a, jobs, func(j *benchJob) []byte { return j.payload })
	wire.Int8s(a, jobs, func(j *benchJob) int64 { return j.priority })
	wire.Texts(a, jobs, func(j *benchJob) string { return j.tenant })
	wire.Times(a, jobs, func(j *benchJob) time.Time { return j.at })
	wire.Int8s(a, jobs, func(j *benchJob) int64 { return j.attempts })
	read := make([]benchJob, 0, len(jobs))
	err := wire.Run(b.Context(), conn.PgConn(),
		wire.Call{SQL: benchGuard, Args: wire.NewArgs(1).Text("1000ms")},
		wire.Call{SQL: benchRows, Args: a, Each: func(r wire.Row) error {
			read = append(read, benchJob{r.Int(0), r.Time(1), r.Text(2), r.Bytes(3), r.Int(4), r.Int(6), r.Text(5)})
			return nil
		}})
	if err != nil {
		b.Fatal(err)
	}
	return len(read)
}

func sendByBatch(b *testing.B, conn *pgx.Conn, jobs []benchJob) int {
	n := len(jobs)
	kinds, payloads, priorities := make([]string, n), make([]string, n), make([]int64, n)
	tenants, ats, attempts := make([]string, n), make([]time.Time, n), make([]int64, n)
	for i := range jobs {
		j := &jobs[i]
		kinds[i], payloads[i], priorities[i], tenants[i], ats[i], attempts[i] = j.kind, string(j.payload), j.priority, j.tenant, j.at, j.attempts
	}
	read := make([]benchJob, 0, n)
	batch := &pgx.Batch{}
	batch.Queue(benchGuard, "1000ms").Exec(func(pgconn.CommandTag) error { return nil })
	batch.Queue(benchRows, kinds, payloads, priorities, tenants, ats, attempts).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var j benchJob
			var payload []byte
			if err := rows.Scan(&j.id, &j.at, &j.kind, &payload, &j.priority, &j.tenant, &j.attempts); err != nil {
				return err
			}
			j.payload = payload
			read = append(read, j)
		}
		return rows.Err()
	})
	if err := conn.SendBatch(b.Context(), batch).Close(); err != nil {
		b.Fatal(err)
	}
	return len(read)
}
