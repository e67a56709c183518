package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core"
)

// historyAhead is how many days of history partitions should at least be ready.
const historyAhead = 2

// checkDatabase looks at the database itself.
func checkDatabase(ctx context.Context, a *console.App, f *findings) {
	steps, unread := postgres.Schema(ctx, a.Database)
	if unread != nil && !errors.Is(unread, core.ErrRights) {
		f.broken("database", unread.Error(), "start PostgreSQL, or mend --database-url or BELFRY_DATABASE_URL")
		return
	}
	asked := a.Now()
	d, err := postgres.Diagnose(ctx, a.Database)
	if err != nil {
		f.broken("database", err.Error(), "the role must be allowed to read the schema belfry")
		return
	}
	checkServer(f, d)
	checkNames(f, d)
	if unread == nil && !checkSchema(f, steps) {
		return
	}
	checkClock(a, f, "database time", d.Now, asked)
	checkSnapshot(f, d)
	if d.Unread {
		f.leftOut("scheduler", "not looked at, nor types and partitions: rights are missing")
		return
	}
	if d.Schedulers == 0 {
		f.broken("scheduler", "no tick holds a bucket", "start a tick: without one nothing is taken back after a crash, and over queues nothing is dispatched")
	} else {
		f.ok("scheduler", "%d of 64 buckets are held", d.Schedulers)
	}
	if len(d.Unhandled) > 0 {
		var types []string
		for _, u := range d.Unhandled {
			types = append(types, fmt.Sprintf("%s (%s)", u.Type, console.Count(u.Due, true)))
		}
		f.warn("types", "no worker handles "+strings.Join(types, ", "), "start a worker with a handler for each, or cancel the jobs")
	}
	if d.HistoryDays < historyAhead {
		f.warn("partitions", "history is ready for "+console.Numbered(d.HistoryDays, "day")+" ahead", "a running tick makes 8 days ahead: look at its log, and whether its role may create tables in the schema belfry")
	} else {
		f.ok("partitions", "history is ready for %s ahead", console.Numbered(d.HistoryDays, "day"))
	}
}

func checkServer(f *findings, d postgres.Diagnosis) {
	faults := d.Faults()
	if len(faults) == 0 {
		f.ok("database", "PostgreSQL %s", d.Version)
	}
	for _, fault := range faults {
		f.broken("database", fault.Text, fault.Advice)
	}
}

// checkNames looks for what gets into Belfry's schema that is not Belfry's.
func checkNames(f *findings, d postgres.Diagnosis) {
	if d.RoleIsSchema {
		f.warn("role", "it is named belfry, like the schema: tables that are made in its sessions without a schema's name land among Belfry's",
			"ALTER ROLE belfry SET search_path = public, or another role for everything that is not Belfry")
	}
	if len(d.Strangers) > 0 {
		f.warn("strangers", "in the schema belfry and none of Belfry's: "+some(d.Strangers),
			"ALTER TABLE belfry.… SET SCHEMA public; a role that is named like the schema makes its tables there")
	}
}

// checkSchema reports whether the schema can be looked at further.
func checkSchema(f *findings, steps []postgres.SchemaStep) bool {
	missing, newer := 0, 0
	for _, s := range steps {
		switch {
		case s.Unknown:
			newer++
		case s.AppliedAt.IsZero():
			missing++
		}
	}
	switch {
	case newer > 0 && postgres.Fits(steps):
		f.ok("schema", "version %d, newer than this program, which works on it", len(steps))
	case newer > 0:
		f.broken("schema", "has "+console.Numbered(newer, "migration")+" that this program does not know", "update this program, and what runs beside it")
	case missing > 0:
		f.broken("schema", fmt.Sprintf("%d of %d migrations are missing", missing, len(steps)), "belfry migrate up")
	default:
		f.ok("schema", "version %d, as this program wants it", len(steps))
	}
	return missing == 0
}

func checkSnapshot(f *findings, d postgres.Diagnosis) {
	if d.OldestSnapshot <= oldSnapshot {
		f.ok("snapshot", "none is older than %s", oldSnapshot)
		return
	}
	f.warn("snapshot", fmt.Sprintf("process %d (%q, %s) has held one for %s", d.SnapshotPID, d.SnapshotApplication, d.SnapshotState, d.OldestSnapshot.Round(time.Second)),
		fmt.Sprintf("it keeps dead rows from being cleared: end it, at last by SELECT pg_terminate_backend(%d), and set idle_in_transaction_session_timeout", d.SnapshotPID))
}
