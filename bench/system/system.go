// Package system puts the job systems that are compared behind one interface, each set up as its own
// documentation says it should be for throughput.
package system

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"
)

// Job is one no-op job as a scenario asks for it.
type Job struct {
	Seq    int       // the scenario's own number; the handler is given it
	RunAt  time.Time // zero means at once
	Tenant string    // left out by systems that have no tenants
}

// Settings say how a system is set up for one case. The zero value is the system as it comes.
type Settings struct {
	Slots int    // handlers that may run at once; zero means the system's default (River: as tuned)
	Conns int    // of the pool; zero means the system's default (River: as tuned)
	Queue string // "" means workers claim from the table; "mem" means through mem:// topics (Belfry only)
}

// Claimed is a started job that FinishOne may end. Each system makes its own.
type Claimed any

// System is one job system on one database of its own. Insert, InsertBatch and FinishOne may be called
// concurrently.
type System interface {
	// Insert returns when the job is durable.
	Insert(ctx context.Context, job Job) error
	// InsertBatch returns when all jobs are durable; one transaction, by the system's fastest public call.
	InsertBatch(ctx context.Context, jobs []Job) error
	// Work runs jobs in this process until stop, which waits for them; handler is called from many goroutines.
	Work(ctx context.Context, handler func(seq int)) (stop func(context.Context) error, err error)
	// Unfinished reports whether the database still holds started jobs whose end is not durable.
	Unfinished(ctx context.Context) (bool, error)
	// Seed writes jobs that are due in a month and jobs that finished today, in SQL, and vacuums the tables.
	Seed(ctx context.Context, future, finished int) error
	// Claim starts up to n due jobs without running a handler.
	Claim(ctx context.Context, n int) ([]Claimed, error)
	// FinishOne ends one of them well, durably, in a statement of its own.
	FinishOne(ctx context.Context, job Claimed) error
	Close()
}

// args is the payload of every job.
type args struct {
	Seq int `json:"seq"`
}

// Names of the systems.
const (
	Belfry = "belfry"
	River  = "river"
)

// Open migrates the database at dsn and returns the system on it.
func Open(ctx context.Context, name, dsn string, settings Settings) (System, error) {
	switch name {
	case River:
		return openRiver(ctx, dsn, settings)
	case Belfry:
		return openBelfry(ctx, dsn, settings)
	}
	return nil, fmt.Errorf("unknown system %q: want %s or %s", name, Belfry, River)
}

// quiet is a logger for errors only: what a log line costs is not what is measured.
func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}
