package core

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// A single row can raise an error: a value cannot be read, a number is at its maximum, or a trigger or constraint refuses
// it. A statement on many rows then fails for all of them, again and again. So the store finds the row and sets it apart:
// statements on many rows skip it until its RetryAt, then try it again. If it was mended by then, it takes part again; if
// not, it is set apart for longer.

// ErrRow means that one row raised an error: the same call without this row may succeed.
var ErrRow = errors.New("a row raises an error")

// Kinds of rows that are set apart.
const (
	ApartJob      = "job"
	ApartSchedule = "schedule"
	ApartAlert    = "alert"
	ApartDead     = "dead_letter"  // its redrive, discard or retention
	ApartDone     = "history"      // its retention
	ApartBucket   = "bucket"       // its lease cannot be taken or renewed: none of its jobs are dispatched
	ApartNote     = "failure_note" // of jobs that failed for good: the alert about them lacks these
	ApartType     = "type"         // due jobs of one priority and type, of which the damaged ones are unknown
	ApartDamaged  = "damaged"      // a value that no statement can do anything with. Named, and never passed over
)

// Acts that try a row again only after a while.
const (
	ActDrop     = "drop"      // by retention: at the next Maintain
	ActFinish   = "finish"    // once another attempt has ended
	ActStart    = "start"     // of a queued job: when its message comes again
	ActGiveBack = "give back" // of a queued job: when its message comes again
)

// How long a row is set apart: ApartFirst at first, at most ApartLongest after repeated errors. A row that has not failed
// again for ApartOver after its time is sound. For ActDrop that is ApartOverDrop; for ActFinish, while its job lives, and
// for ActStart and ActGiveBack, while its job is queued, it is ApartOverJob.
const (
	ApartFirst   = 5 * time.Second
	ApartLongest = 5 * time.Minute
	ApartOver    = 15 * time.Second

	ApartOverDrop = 15 * time.Minute
	ApartOverJob  = time.Hour

	ApartMax        = 10_000 // rows of a kind that can be set apart at once; others are tried again at every pass
	MaxDamagedNamed = 100    // damaged rows of a kind that are named at a time
)

// IDLimit is above every id that is given. A row with this id or a higher one was changed by hand: it is named, and the ids
// that are given do not go on from it.
const IDLimit int64 = 1 << 62

// RowFault is a row that is set apart, and why.
type RowFault struct {
	Kind    string
	ID      int64
	Name    string // names a thing that has no id
	About   string // a job's type, a schedule's name. "" means not known
	Act     string // what was being done
	Error   string
	Tries   int       // how many times in a row it was set apart
	Since   time.Time // when it was first set apart
	RetryAt time.Time // when it is tried again
}

// String names the row: "job 17 (mail.send)", "type default/mail.send".
func (f *RowFault) String() string {
	text := f.Kind
	if f.ID != 0 {
		text += " " + strconv.FormatInt(f.ID, 10)
	}
	if f.Name != "" {
		text += " " + f.Name
	}
	if f.About != "" {
		text += " (" + f.About + ")"
	}
	return text
}

// ApartCount is how many rows of a kind are set apart.
type ApartCount struct {
	Kind string
	Rows int
}

// SetsApart is implemented by stores that set rows apart.
type SetsApart interface {
	// SetApart sets rows apart, each for longer than the last time. A row that is apart already stays as it is.
	SetApart(ctx context.Context, faults []RowFault) error
}
