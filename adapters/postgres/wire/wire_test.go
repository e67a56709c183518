package wire_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/internal/testenv"
)

func connect(t *testing.T) *pgconn.PgConn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), testenv.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn.PgConn()
}

// TestValuesComeBackAsTheyWent has the server say what it understood of each parameter, as text.
func TestValuesComeBackAsTheyWent(t *testing.T) {
	conn := connect(t)
	at := time.Date(1999, 12, 31, 23, 59, 59, 123456789, time.UTC)
	times := []time.Time{{}, at, time.Date(2026, 3, 29, 1, 0, 0, 0, time.FixedZone("", 7200))}
	numbers := []int64{0, -1, math.MaxInt64}
	texts := []string{"", `a"b\`, "é\u2028"}
	a := wire.NewArgs(16).Int8(math.MinInt64).Int2(-7).Bool(true).Text("x").TextOrNull(nil).Interval(-90 * time.Minute).Time(at)
	wire.Int8s(a, numbers, func(n *int64) int64 { return *n })
	wire.Int8sOrNull(a, numbers, func(n *int64) int64 { return *n })
	wire.Int4s(a, numbers, func(n *int64) int { return int(*n) })
	wire.Texts(a, texts, func(s *string) string { return *s })
	wire.TextsOrNull(a, texts, func(s *string) string { return *s })
	wire.JSONs(a, []string{"", `{"a": 1e5}`}, func(s *string) []byte { return []byte(*s) })
	wire.Times(a, times, func(at *time.Time) time.Time { return *at })
	wire.TimesOrPast(a, times[:1], func(at *time.Time) time.Time { return *at })
	wire.IntervalsOrNull(a, []time.Duration{0, time.Microsecond}, func(d *time.Duration) time.Duration { return *d })
	want := []string{
		"-9223372036854775808", "-7", "true", "x", "NULL", "-01:30:00", "1999-12-31 23:59:59.123456+00",
		"{0,-1,9223372036854775807}", "{NULL,-1,9223372036854775807}", "{0,-1,2147483647}",
		`{"","a\"b\\",é` + "\u2028}", `{NULL,"a\"b\\",é` + "\u2028}", `{NULL,"{\"a\": 1e5}"}`,
		`{NULL,"1999-12-31 23:59:59.123456+00","2026-03-28 23:00:00+00"}`, "{-infinity}", "{NULL,00:00:00.000001}",
	}
	columns := make([]string, len(want))
	for i, typ := range a.Types() {
		columns[i] = "coalesce(($" + string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10)) + "::" + typ + ")::text, 'NULL')"
	}
	sql := strings.ReplaceAll("SELECT "+strings.Join(columns, ", "), "$0", "$")
	var got []string
	err := wire.Run(t.Context(), conn, wire.Call{SQL: "SELECT set_config('timezone', 'UTC', true)"}, wire.Call{SQL: sql, Args: a, Each: func(r wire.Row) error {
		for i := range r {
			got = append(got, r.Text(i))
		}
		return nil
	}})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n got %q\nwant %q", err, got, want)
	}
}

// The values of a statement share one buffer, which large ones outgrow: none runs into its neighbour.
func TestValuesKeepApart(t *testing.T) {
	conn := connect(t)
	long := strings.Repeat("long ", 1_000)
	texts, numbers := []string{"a", long, ""}, []int64{0, 0, 0}
	a := wire.NewArgs(8).Text("").Int8(1)
	wire.Texts(a, texts, func(s *string) string { return *s })
	wire.Int8sOrNull(a, numbers, func(n *int64) int64 { return *n })
	wire.Int8s(a, numbers, func(*int64) int64 { return 7 })
	a.Text(long).Bytes(nil).Int2(2)
	const same = "SELECT $1 = '', $2 = 1, $3 = ARRAY['a', $6, ''], $4 = '{}', $5 = '{7,7,7}', length($6) = 5000, $7 = ''::bytea, $8 = 2"
	if err := wire.Run(t.Context(), conn, wire.Call{SQL: same, Args: a, Each: func(r wire.Row) error {
		for i := range r {
			if !r.Bool(i) {
				t.Errorf("value %d is another", i+1)
			}
		}
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
}

// TestArgsAllocations bounds what the parameters of a statement allocate, however many they are: themselves and a buffer. What
// no item has takes no room.
func TestArgsAllocations(t *testing.T) {
	for _, items := range []int{1, 1_000} {
		numbers := make([]int64, items)
		per := testing.AllocsPerRun(100, func() {
			a := wire.NewArgs(12).Int8(1).Bool(true).Interval(time.Second)
			wire.Int8s(a, numbers, func(n *int64) int64 { return *n })
			for range 8 {
				wire.Int8sOrNull(a, numbers, func(n *int64) int64 { return *n })
			}
		})
		t.Logf("%d items: %.0f allocations", items, per)
		if per > 6 {
			t.Errorf("%d items: %.0f allocations, want 6 at most", items, per)
		}
	}
}

func TestRowsAreRead(t *testing.T) {
	conn := connect(t)
	err := wire.Run(t.Context(), conn, wire.Call{
		SQL: `SELECT 1::smallint, -2, 3::bigint, true, NULL::bigint, timestamptz '1969-07-20 20:17:40.5+00', timestamptz 'infinity', timestamptz '-infinity',
		      '{1,NULL,-3}'::bigint[], ARRAY['a', 'é'], timestamptz '4713-01-01 BC'`,
		Each: func(r wire.Row) error {
			if r.Int(0) != 1 || r.Int(1) != -2 || r.Int(2) != 3 || !r.Bool(3) || !r.Null(4) || r.Int(4) != 0 {
				t.Errorf("numbers: %v", r)
			}
			if at := r.Time(5); !at.Equal(time.Date(1969, 7, 20, 20, 17, 40, 500_000_000, time.UTC)) {
				t.Error(at)
			}
			if r.Time(6) != wire.Future || !r.Time(7).IsZero() || !r.Time(10).Before(time.Date(-4000, 1, 1, 0, 0, 0, 0, time.UTC)) {
				t.Errorf("the ends of time: %s, %s, %s", r.Time(6), r.Time(7), r.Time(10))
			}
			if n, s := r.Ints(8), r.Texts(9); !reflect.DeepEqual(n, []int64{1, -3}) || !reflect.DeepEqual(s, []string{"a", "é"}) {
				t.Error(n, s)
			}
			return nil
		},
	})
	if err != nil {
		t.Error(err)
	}
}

func TestPipelineIsOneTransaction(t *testing.T) {
	conn := connect(t)
	if err := wire.Run(t.Context(), conn, wire.Call{SQL: "CREATE TABLE once (n int)"}); err != nil {
		t.Fatal(err)
	}
	insert := wire.Call{SQL: "INSERT INTO once VALUES (1)"}
	err := wire.Run(t.Context(), conn, insert, wire.Call{SQL: "SELECT 1 / (SELECT count(*) - 1 FROM once)"}, insert)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "22012" {
		t.Fatalf("want a division by zero, got %v", err)
	}
	broken := errors.New("broken")
	err = wire.Run(t.Context(), conn, insert, wire.Call{SQL: "SELECT n FROM once", Each: func(wire.Row) error { return broken }})
	if !errors.Is(err, broken) {
		t.Fatalf("want the reader's error, got %v", err)
	}
	var n int64
	if err := wire.Run(t.Context(), conn, wire.Call{SQL: "SELECT count(*) FROM once", Each: func(r wire.Row) error { n = r.Int(0); return nil }}); err != nil || n != 1 {
		t.Errorf("%d rows, %v; want the one of the pipeline that was committed", n, err)
	}
}
