package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Harness is an adapter's part of the suite, including what it declares.
type Harness struct {
	// Open makes a fresh, empty database with the schema. It registers a cleanup with t.Cleanup.
	Open func(t *testing.T) Database
	// Single declares that a database allows only one handle. OpenAgain then returns the same store.
	Single bool
	// Partitions declares that history has one partition per day. A finish on a day without a partition goes to an overflow
	// table, counted in core.Stats.
	Partitions bool
	// Large runs the scenarios that count work at full size. Zero means smaller sizes, to keep the suite quick.
	Large bool
}

// Database is one fresh database under test.
type Database interface {
	// Store returns the first handle.
	Store() core.Store
	// OpenAgain opens another handle on the same database and clock, as another process would.
	OpenAgain(t *testing.T) core.Store
	// Advance moves the store's clock, for all handles. d is negative only before the first job is submitted.
	Advance(t *testing.T, d time.Duration)
	// Hold opens a foreign transaction that does what h says. It stays open until release is called, which commits or rolls
	// back; t.Cleanup rolls back any that is still open. Nil means that the database has only one writer, so that no such
	// transaction can be open beside the store's own.
	Hold(t *testing.T, h Hold) (release func(commit bool))
	// Damage writes a value into a live job's row, as a user might by hand. False means that the schema cannot hold the
	// value.
	Damage(t *testing.T, what Damage, id int64) bool
}

// RowReader is a Database that counts the rows of live jobs read by all statements so far.
type RowReader interface {
	RowsRead(t *testing.T) int64
}

// WaitCounter is a Database that counts the statements that are waiting for another transaction's lock.
type WaitCounter interface {
	Waiting(t *testing.T) int
}

// KeyCounter is a Database that counts its idempotency keys, including expired ones.
type KeyCounter interface {
	Keys(t *testing.T) int
}

// EarlierAnnouncer is a Database that can announce a type as older programs did, whose workers did not report that they were
// alive.
type EarlierAnnouncer interface {
	AnnounceEarlier(t *testing.T, typ string)
}

// ScheduleDamager is a Database that can overwrite a schedule's stored definition, as a user might by hand.
type ScheduleDamager interface {
	DamageSchedule(t *testing.T, id int64, rule string)
}

// LeaseRemover is a Database with two faults. RemoveLeases deletes the lease rows of buckets, as a user might by hand.
// RefuseLease makes the insert of one bucket's row fail, as a trigger might, until allow is called.
type LeaseRemover interface {
	RemoveLeases(t *testing.T, first, last int)
	RefuseLease(t *testing.T, bucket int) (allow func())
}

// HoldKind says what a foreign open transaction has done.
type HoldKind int

// The kinds of Hold, with the fields of Hold each uses.
const (
	// HoldRow locks the live row of job ID, as SELECT … FOR UPDATE does.
	HoldRow HoldKind = iota + 1
	// HoldJob inserts a scheduled job of Type, Tenant and Key, due at RunAt, as a user's own transaction may. Like Submit it
	// takes the dedupe key, unless Key is empty.
	HoldJob
	// HoldTakeover takes all bucket leases for Holder, as Holder's Tick does after they have expired.
	HoldTakeover
	// HoldDispatch marks job ID as queued under the current holder's lease, as that holder's Tick does. It locks the lease
	// rows as a claim does, and sets the fence and a dispatch lease on the row.
	HoldDispatch
)

// Hold describes a foreign open transaction.
type Hold struct {
	Kind   HoldKind
	ID     int64
	Type   string
	Tenant string
	Key    string
	RunAt  time.Time
	Holder string
}

// Damage is a value that no method of a store writes.
type Damage int

// The kinds of damage.
const (
	AttemptsAtMax      Damage = iota + 1 // attempts = max_attempts
	AttemptsAboveMax                     // attempts = max_attempts + 7
	AttemptsNegative                     // attempts = -3
	AttemptsHuge                         // attempts = the maximum of the column
	MaxAttemptsZero                      // max_attempts = 0
	SnoozesNegative                      // snoozes = -1
	RunAtInfinity                        // run_at = infinity, or the column's maximum
	RunAtMinusInfinity                   // run_at = -infinity, or the column's minimum
	RunAtFar                             // run_at in the year 20231
	LeaseInfinity                        // lease_until = infinity, or the column's maximum
	LeaseMinusInfinity                   // lease_until = -infinity, or the column's minimum
	LeaseMissing                         // lease_until is null
	LeaseFar                             // lease_until in the year 2099
	ReapInfinity                         // the time at which the reaper reads the row = infinity, or the column's maximum
	ErrorsObject                         // errors = {"a": 1}
	ErrorsNumbers                        // errors = [1, "x", null, {"attempt": "y"}]
	ErrorsMissing                        // errors is null
	BackoffNegative                      // a negative wait
	BackoffMissing                       // backoff is null, or an empty list
	TimeoutNegative                      // a negative timeout
	TimeoutHuge                          // timeout of 300,000 years, or the column's maximum
	TypeEmpty                            // type = ''
	PriorityUnknown                      // priority = 9
	StatusUnknown                        // status = 42
	StatusZero                           // status = 0
	PayloadDamaged                       // payload is not JSON
	TargetDamaged                        // target is not an object, or not JSON
	TokenMax                             // lease_token = the column's maximum
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
	StatusUnknown: "status unknown", StatusZero: "status zero", PayloadDamaged: "payload damaged", TargetDamaged: "target damaged",
	TokenMax: "token at its maximum", BucketWrong: "bucket wrong",
}

// String returns the damage's name, as used in subtests.
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
