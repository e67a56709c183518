// Package call is what all calls share: the options, how a request is read, and how it waits for a job.
//
//	base.go    Options, Limits, and Base, which all calls stand on
//	route.go   one operation and what answers it
//	params.go  the query; page.go, cursor.go and cursor_name.go pages of it
//	body.go    the body within its limits; fields.go and target.go what several calls read from it
//	wait.go    requests that wait for jobs to end
//	prefix.go  what a proxy says comes before the paths
package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/report"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/memory"
)

// Options say what the API stands on.
type Options struct {
	Submitter Submitter       // required
	Jobs      core.JobStore   // required
	Stats     core.StatsStore // required

	// Poke is told of each job that was accepted or put back, so that a worker in this process need not wait
	// for its next look. It must not block. Zero means nobody is told.
	Poke func(id int64)
	// Now judges run_at, expires_at and the ends of tokens: a storeclock.Clock's. Zero means time.Now.
	Now func() time.Time
	// Types keeps the definitions of types. Zero means that there are no calls for them.
	Types Types
	// Schedules and Ledger serve schedules. Zero means that there are no calls for them.
	Schedules *schedule.Acts
	Ledger    core.ScheduleStore
	// Counts are those of the tick of this process, for /metrics. Zero means that there is none here.
	Counts *schedule.Counts
	// Targets judges the targets of jobs and types. Zero means that nothing delivers here: every target is refused.
	Targets Targets
	// Attempts and Leases serve targets that report on their attempts. Zero means that there are no calls for it.
	Attempts Attempts
	Leases   LeaseTokens
	// KeepKeys is how long the answer to a call with an Idempotency-Key is kept. Zero means 24 h.
	KeepKeys time.Duration
	// Access keeps bearer tokens. Zero means that there are no calls for them, and no others than Tokens.
	Access core.AccessStore
	// Tokens are bearer tokens that may do everything; see MinToken. Where there are none, and none in Access, anyone
	// may call: hosts then serve loopback only, see CheckOpen.
	Tokens []string
	// Closed lets no call go without a token, even while there are none. Zero means that anyone may call then.
	Closed bool
	// Loopback says that a loopback address is served: calls without a token are then answered under loopback names
	// only, for the pages of a stranger can have a name of their own point here. Zero means under any name.
	Loopback bool
	// Queues says that this installation hands jobs out through queues. Zero means that workers claim from the table.
	Queues bool
	// Spool is a directory for large bodies on their way in, and large answers on their way out. Zero means that they are in
	// memory: where all disks are memory.
	Spool string
	// KeepAlive is how long the server keeps a connection on which no request comes: answers say so. Zero means that they
	// say nothing.
	KeepAlive time.Duration
	Version   string // shown in the OpenAPI document. Zero means "dev"
	Limits    Limits
	Logger    *slog.Logger // Zero means nothing is logged
}

// Limits bound what one request may take.
type Limits struct {
	Body      int64 // bytes of a request's body. Zero means 1 MiB + 64 KiB: a payload and what is around it
	BatchBody int64 // bytes of a batch's body. Zero means 32 MiB
	// Memory is how many bytes the bodies and answers of requests in flight may take; one caller has half of it. Beyond,
	// requests wait for a while, and are then answered 503. Batches of more than an eighth are refused. Zero means 256 MiB.
	Memory     int64
	MemoryWait time.Duration // for what others hold of it. Zero means 5 s
	Batch      int           // jobs of a batch. Zero means core.MaxBatch
	PageBytes  int           // a page of a list ends early when its jobs come to this. Zero means 4 MiB
	Looks      int           // a page of a list ends early when so many looks into the store found little. Zero means 50
	LookTime   time.Duration // or when they took so long. Zero means 1 s
	BodyTime   time.Duration // for a body to arrive. Zero means 30 s
	Time       time.Duration // for an answer, ?wait= not counted. Zero means 30 s
	TakeTime   time.Duration // for the caller to take an answer, and a second more for each 128 KiB. Zero means 30 s
	Wait       time.Duration // longest ?wait=. Zero means 60 s
	Waits      int           // requests that wait at once. Zero means 10,000
	Timeout    time.Duration // of jobs and types that no target does the work of. Zero means core.MaxTimeout
	Rate       int           // requests a second of one token, or of one address without one. Zero means no bound
}

// Base is what all calls stand on.
type Base struct {
	Options
	Wait     *waiter
	Callers  *access.Control
	Memory   *memory.Budget // for requests in flight
	Disk     *memory.Spool  // nil where nothing is kept on disk
	Turns    *memory.Budget // for work that takes a processor for a while
	Draining atomic.Bool
}

// New gives options their defaults. An error names the one that is missing.
func New(o Options) (*Base, error) {
	if o.Submitter == nil || o.Jobs == nil || o.Stats == nil {
		return nil, errors.New("api: Submitter, Jobs and Stats are required")
	}
	if o.Poke == nil {
		o.Poke = func(int64) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	zero(&o.KeepKeys, 24*time.Hour)
	o.Limits.fill()
	b := &Base{Options: o, Wait: newWaiter(o.Jobs, o.Limits.Waits)}
	b.Memory, b.Turns = memory.NewBudget(o.Limits.Memory, o.Limits.MemoryWait), answer.NewTurns()
	if o.Spool != "" {
		b.Disk = &memory.Spool{Dir: o.Spool, Room: memory.NewBudget(memory.DiskTimes*o.Limits.Memory, 0)}
	}
	var err error
	if b.Callers, err = access.New(access.Options{Tokens: o.Tokens, Closed: o.Closed, Loopback: o.Loopback, Rate: o.Limits.Rate, Store: o.Access, Now: o.Now}); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	b.Tokens = nil // the hashes are enough
	b.Jobs = access.OwnJobs(o.Jobs)
	return b, nil
}

func (l *Limits) fill() {
	zero(&l.Body, core.MaxPayloadBytes+64<<10)
	zero(&l.BatchBody, 32<<20)
	zero(&l.Memory, 256<<20)
	zero(&l.MemoryWait, 5*time.Second)
	l.BatchBody = min(l.BatchBody, l.Memory/memory.CallerShare/memory.BodyTimes)
	zero(&l.Batch, core.MaxBatch)
	zero(&l.PageBytes, answer.DefaultPageBytes)
	zero(&l.Looks, 50)
	zero(&l.LookTime, time.Second)
	zero(&l.BodyTime, 30*time.Second)
	zero(&l.Time, 30*time.Second)
	zero(&l.TakeTime, 30*time.Second)
	zero(&l.Wait, time.Minute)
	zero(&l.Waits, 10_000)
}

// zero gives an option that was left at zero its default.
func zero[T int | int64 | time.Duration](option *T, value T) {
	if *option == 0 {
		*option = value
	}
}

// Submitter accepts jobs: a submit.Submitter.
type Submitter interface {
	// Check gives a job what its type defines and holds it against the rules: FieldErrors. now bounds run_at and expires_at.
	Check(ctx context.Context, job core.NewJob, now time.Time) (core.CheckedJob, error)
	// Write writes one job and returns when it is durable.
	Write(ctx context.Context, job core.CheckedJob) (core.Submitted, error)
	// WriteBatch writes all jobs in one transaction, or none; answer i is for job i.
	WriteBatch(ctx context.Context, jobs []core.CheckedJob) ([]core.Submitted, error)
	// WriteOnce and WriteOneOnce write under an idempotency key; see core.SubmitStore.
	WriteOnce(ctx context.Context, key core.IdempotencyKey, jobs []core.CheckedJob, render func([]core.Submitted) (core.Answer, error)) (core.Once, error)
	WriteOneOnce(ctx context.Context, key core.IdempotencyKey, job core.CheckedJob, render func(*core.NewJob, core.Submitted) core.Answer) (core.Once, error)
}

// Attempts ends and extends attempts for those who hold their lease tokens: a report.Reporter.
type Attempts interface {
	Heartbeat(ctx context.Context, ref core.Ref) (report.Extended, error)
	Complete(ctx context.Context, ref core.Ref, result json.RawMessage) (core.Status, error)
	Fail(ctx context.Context, ref core.Ref, fault error) (core.Status, error)
}

// LeaseTokens reads the lease tokens that deliveries carry.
type LeaseTokens interface {
	// Open returns the attempt a token was made for; any error means that it is none of this installation.
	Open(ctx context.Context, token string) (core.Ref, error)
}

// Types keeps the definitions of types, and remembers them: a typecache.Cache.
type Types interface {
	core.TypeStore
	Fresh(ctx context.Context) error
	Lookup(name string) (core.JobType, bool)
}

// Targets judges where jobs may be delivered: the guard that deliveries are judged by too.
type Targets interface {
	// CheckTargets refuses targets that no delivery may go to; answer i is for target i: nil, or a *core.FieldError of
	// "target" or a field of it.
	CheckTargets(ctx context.Context, targets []json.RawMessage) []error
}
