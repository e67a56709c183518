package core

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// A row can raise an error for itself: a value that cannot be read any more, a number at its end, a trigger or constraint of
// somebody's that refuses it. Work on many rows at once then fails for all of them, again and again. So the row is found
// and set apart: work on many passes over it until its RetryAt, then meets it again. A row that was mended by then is back;
// one that was not is set apart for longer.

// ErrRow is what stores answer where a row raises an error for itself: the same call without it may succeed.
var ErrRow = errors.New("a row raises an error")

// Kinds of rows that are set apart.
const (
	ApartJob      = "job"
	ApartSchedule = "schedule"
	ApartAlert    = "alert"
	ApartDead     = "dead_letter" // its redrive, discard or retention
	ApartDone     = "history"     // its retention
	ApartBucket   = "bucket"      // its lease cannot be taken or renewed: nothing of it is dispatched
	ApartType     = "type"        // due jobs of one priority and type, among which the rows at fault cannot be told
)

// Acts that meet a row again only after a while.
const (
	ActDrop     = "drop"      // by retention: with the next upkeep
	ActFinish   = "finish"    // once another attempt has ended
	ActStart    = "start"     // of a queued job: when its message comes again
	ActGiveBack = "give back" // of a queued job: when its message comes again
)

// How long a row is set apart: at first, and at most after it was time and again. One whose time is over by ApartOver was
// met again and did not fail. Of ActDrop it counts as set apart for ApartOverDrop; of ActFinish while its job lives, and of
// ActStart and ActGiveBack while its job is queued, for ApartOverJob.
const (
	ApartFirst   = 5 * time.Second
	ApartLongest = 5 * time.Minute
	ApartOver    = 15 * time.Second

	ApartOverDrop = 15 * time.Minute
	ApartOverJob  = time.Hour

	ApartMax = 10_000 // rows of a kind that are set apart at once; more are met again and again
)

// RowFault is a row that is set apart, and why.
type RowFault struct {
	Kind    string
	ID      int64
	Name    string // of what has no id
	About   string // a job's type, a schedule's name. "" means not known
	Act     string // what was being done
	Error   string
	Tries   int       // how often it was set apart in a row
	Since   time.Time // when it was first
	RetryAt time.Time // when it is met again
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

// SetsApart is a store that keeps rows that are set apart.
type SetsApart interface {
	// SetApart sets rows apart, each for longer than the last time. One that is apart already stays as it is.
	SetApart(ctx context.Context, faults []RowFault) error
}
