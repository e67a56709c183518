package core

import "fmt"

// Status says where a job is on its way. The numbers are what stores keep.
type Status int16

// The six statuses. A job is live while scheduled, queued or running; the other three are ends.
const (
	Scheduled Status = 1 // waits for run_at, for a slot, or for its retry
	Queued    Status = 2 // handed to its priority's queue, not started yet
	Running   Status = 3 // a worker holds its lease
	Done      Status = 4 // finished well
	Failed    Status = 5 // failed for good: a dead letter
	Cancelled Status = 6 // cancelled by someone, or expired
)

var statusNames = [...]string{Scheduled: "scheduled", Queued: "queued", Running: "running", Done: "done", Failed: "failed", Cancelled: "cancelled"}

// String returns the status's word, the same in SQL, logs, docs and API.
func (s Status) String() string {
	if s >= Scheduled && int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status(%d)", int16(s))
}

// Ended reports whether the job has reached one of its three ends.
func (s Status) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// Live reports whether the job is scheduled, queued or running.
func (s Status) Live() bool { return s == Scheduled || s == Queued || s == Running }

// ParseStatus is the inverse of String. An unknown word is an error that lists the known ones.
func ParseStatus(word string) (Status, error) {
	for s := Scheduled; s <= Cancelled; s++ {
		if statusNames[s] == word {
			return s, nil
		}
	}
	return 0, fmt.Errorf("unknown status %q: want scheduled, queued, running, done, failed or cancelled", word)
}
