package measure

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Usage is a server's resource usage so far.
type Usage struct {
	CPU          time.Duration // of all its processes; 0 when the server is not on this machine
	WAL          int64         // bytes written
	Transactions int64         // committed and rolled back in the watched database
}

// Sub is the usage between earlier and u.
func (u Usage) Sub(earlier Usage) Usage {
	return Usage{CPU: u.CPU - earlier.CPU, WAL: u.WAL - earlier.WAL, Transactions: u.Transactions - earlier.Transactions}
}

// Watcher reads a PostgreSQL server's usage over a connection to another database than the one it watches, so that
// looking does not count.
type Watcher struct {
	conn       *pgx.Conn
	database   string
	postmaster int // 0 when not on this machine
}

// Watch opens a watcher of one database, by a connection to another one of its server.
func Watch(ctx context.Context, serverURL, databaseURL string) (*Watcher, error) {
	watched, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	conn, err := pgx.Connect(ctx, serverURL)
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	w := &Watcher{conn: conn, database: watched.Database}
	var backend int
	if err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&backend); err != nil {
		conn.Close(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("watch: %w", err)
	}
	if stat, ok := readStat(backend); ok && stat.command == "postgres" {
		w.postmaster = stat.parent
	}
	return w, nil
}

// Read returns the usage so far.
func (w *Watcher) Read(ctx context.Context) (Usage, error) {
	usage := Usage{CPU: w.cpu()}
	err := w.conn.QueryRow(ctx, `
		SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint,
		       coalesce((SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1), 0)`,
		w.database).Scan(&usage.WAL, &usage.Transactions)
	if err != nil {
		return Usage{}, fmt.Errorf("usage: %w", err)
	}
	return usage, nil
}

// Close closes the watcher's connection.
func (w *Watcher) Close(ctx context.Context) { _ = w.conn.Close(ctx) }

// cpu sums the postmaster, its children, and those of its children that have ended.
func (w *Watcher) cpu() time.Duration {
	if w.postmaster == 0 {
		return 0
	}
	postmaster, ok := readStat(w.postmaster)
	if !ok {
		return 0
	}
	ticks := postmaster.own + postmaster.ended
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(filepath.Base(entry))
		if err != nil {
			continue
		}
		if child, ok := readStat(pid); ok && child.parent == w.postmaster {
			ticks += child.own
		}
	}
	return time.Duration(ticks) * (time.Second / 100) // USER_HZ
}

// procStat is the part of /proc/<pid>/stat that counts processor time, in ticks.
type procStat struct {
	command    string
	parent     int
	own, ended int64 // of the process; of its children that were waited for
}

func readStat(pid int) (procStat, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, false
	}
	return parseStat(string(text))
}

// parseStat reads proc(5): the command is in parentheses and may contain any character.
func parseStat(text string) (procStat, bool) {
	open, shut := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || shut < open {
		return procStat{}, false
	}
	fields := strings.Fields(text[shut+1:]) // from the third field, the state, on
	if len(fields) < 15 {
		return procStat{}, false
	}
	stat := procStat{command: text[open+1 : shut]}
	var numbers [5]int64
	for i, field := range []int{1, 11, 12, 13, 14} { // ppid, utime, stime, cutime, cstime
		n, err := strconv.ParseInt(fields[field], 10, 64)
		if err != nil {
			return procStat{}, false
		}
		numbers[i] = n
	}
	stat.parent, stat.own, stat.ended = int(numbers[0]), numbers[1]+numbers[2], numbers[3]+numbers[4]
	return stat, true
}
