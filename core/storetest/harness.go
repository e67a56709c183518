package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Harness is what an adapter gives the suite, and what it declares.
type Harness struct {
	// Open makes a fresh, empty database with the schema in place. What it opens is closed by t.Cleanup.
	Open func(t *testing.T) Database
	// Single declares that a database takes one handle only: OpenAgain then answers the same store.
	Single bool
	// Partitions declares that history is kept in one partition per day and that a finish on a day without
	// one goes to an overflow table, counted in core.Stats.
	Partitions bool
	// Large runs the scenarios that count work at full size. Zero means sizes that keep the suite quick.
	Large bool
}

// Database is one fresh database under test.
type Database interface {
	// Store is the first handle.
	Store() core.Store
	// OpenAgain opens a further handle on the same database and the same clock, as another process would.
	OpenAgain(t *testing.T) core.Store
	// Advance moves the store's clock, for all handles. d is negative only before the first job is submitted.
	Advance(t *testing.T, d time.Duration)
	// Hold opens a transaction of a stranger that does what h says and stays open until release is called
	// (commit or roll back; t.Cleanup rolls back what is still open). Nil means that the database has one
	// writer and no such transaction can stand beside the store's own.
	Hold(t *testing.T, h Hold) (release func(commit bool))
	// Damage writes a value into a live job's row as someone might by hand. False means that the schema
	// cannot hold such a value.
	Damage(t *testing.T, what Damage, id int64) bool
}

// RowReader is a Database that can say how many rows of live jobs all statements have read so far.
type RowReader interface {
	RowsRead(t *testing.T) int64
}

// WaitCounter is a Database that can say how many statements wait for another transaction's lock now.
type WaitCounter interface {
	Waiting(t *testing.T) int
}

// KeyCounter is a Database that can say how many idempotency keys it holds, those past their time too.
type KeyCounter interface {
	Keys(t *testing.T) int
}

// EarlierAnnouncer is a Database that can announce a type as programs did whose workers did not say whether they live.
type EarlierAnnouncer interface {
	AnnounceEarlier(t *testing.T, typ string)
}

// ScheduleDamager is a Database that can overwrite a schedule's stored definition as someone might by hand.
type ScheduleDamager interface {
	DamageSchedule(t *testing.T, id int64, rule string)
}

// LeaseRemover is a Database in which RemoveLeases deletes the lease rows of buckets, as somebody might by hand, and RefuseLease
// has the insert of one bucket's row fail, as a trigger might, until allow is called.
type LeaseRemover interface {
	RemoveLeases(t *testing.T, first, last int)
	RefuseLease(t *testing.T, bucket int) (allow func())
}

// HoldKind says what a stranger's open transaction has done.
type HoldKind int

// The kinds of Hold, with the fields of Hold each uses.
const (
	// HoldRow locks the live row of job ID, as SELECT … FOR UPDATE does.
	HoldRow HoldKind = iota + 1
	// HoldJob inserts a scheduled job of Type, Tenant and Key, due at RunAt, as a user's own transaction may.
	// It takes the dedupe key as Submit does, unless Key is empty.
	HoldJob
	// HoldTakeover takes all bucket leases for Holder, as a Tick of Holder does once they have run out.
	HoldTakeover
	// HoldDispatch marks job ID queued under the present holder's lease, as a Tick of that holder does: the
	// lease rows locked as a claim locks them, the fence and a dispatch lease on the row.
	HoldDispatch
)

// Hold describes a stranger's open transaction.
type Hold struct {
	Kind   HoldKind
	ID     int64
	Type   string
	Tenant string
	Key    string
	RunAt  time.Time
	Holder string
}

// Damage is a value that no port writes.
type Damage int

// The kinds of damage.
const (
	AttemptsAtMax      Damage = iota + 1 // attempts = max_attempts
	AttemptsAboveMax                     // attempts = max_attempts + 7
	AttemptsNegative                     // attempts = -3
	AttemptsHuge                         // attempts = the greatest value the column holds
	MaxAttemptsZero                      // max_attempts = 0
	SnoozesNegative                      // snoozes = -1
	RunAtInfinity                        // run_at = infinity, or the farthest the column holds
	RunAtMinusInfinity                   // run_at = -infinity, or the earliest the column holds
	RunAtFar                             // run_at in the year 20231
	LeaseInfinity                        // lease_until = infinity, or the farthest the column holds
	LeaseMinusInfinity                   // lease_until = -infinity, or the earliest the column holds
	LeaseMissing                         // lease_until is null
	LeaseFar                             // lease_until in the year 2099
	ReapInfinity                         // when the reaper looks at the row = infinity, or the farthest the column holds
	ErrorsObject                         // errors = {"a": 1}
	ErrorsNumbers                        // errors = [1, "x", null, {"attempt": "y"}]
	ErrorsMissing                        // errors is null
	BackoffNegative                      // a wait below zero
	BackoffMissing                       // backoff is null, or an empty list
	TimeoutNegative                      // timeout below zero
	TimeoutHuge                          // timeout of 300,000 years, or the greatest the column holds
	TypeEmpty                            // type = ''
	PriorityUnknown                      // priority = 9
	StatusUnknown                        // status = 42
	PayloadDamaged                       // payload that is no JSON
	TargetDamaged                        // target that is no object, or no JSON
	TokenMax                             // lease_token = the greatest value the column holds
	BucketWrong                          // bucket = 99
	lastDamage
)

var damageNames = [...]string{
	AttemptsAtMax: "attempts at max", AttemptsAboveMax: "attempts above max", AttemptsNegative: "attempts negative",
	AttemptsHuge: "attempts huge", MaxAttemptsZero: "max attempts zero", SnoozesNegative: "snoozes negative",
	RunAtInfinity: "run_at infinity", RunAtMinusInfinity: "run_at minus infinity", RunAtFar: "run_at in the year 20231",
	LeaseInfinity: "lease infinity", LeaseMinusInfinity: "lease minus infinity", LeaseMissing: "lease missing",
	LeaseFar: "lease in the year 2099", ReapInfinity: "reap time infinity",
	ErrorsObject: "errors an object", ErrorsNumbers: "errors of numbers", ErrorsMissing: "errors missing",
	BackoffNegative: "backoff negative", BackoffMissing: "backoff missing", TimeoutNegative: "timeout negative",
	TimeoutHuge: "timeout huge", TypeEmpty: "type empty", PriorityUnknown: "priority unknown",
	StatusUnknown: "status unknown", PayloadDamaged: "payload damaged", TargetDamaged: "target damaged",
	TokenMax: "token at its maximum", BucketWrong: "bucket wrong",
}

// String names the damage as subtests do.
func (d Damage) String() string {
	if d > 0 && d < lastDamage {
		return damageNames[d]
	}
	return fmt.Sprintf("damage(%d)", int(d))
}

// Damages lists every kind of damage.
func Damages() []Damage {
	all := make([]Damage, 0, lastDamage)
	for d := AttemptsAtMax; d < lastDamage; d++ {
		all = append(all, d)
	}
	return all
}
