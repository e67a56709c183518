package recurrence

// Outcome is what became of a due instant.
type Outcome string

const (
	Fired    Outcome = "fired"     // a run was made in time
	CaughtUp Outcome = "caught_up" // a run was made late
	Covered  Outcome = "covered"   // a later instant's late run stands for it
	Skipped  Outcome = "skipped"   // no run was made, for a Reason
)

// Reason says why an instant was skipped.
type Reason string

const (
	ReasonMissed     Reason = "missed"  // it was late, and the schedule skips what it missed
	ReasonOverlap    Reason = "overlap" // the schedule's previous run was still active
	ReasonPaused     Reason = "paused"  // the schedule was paused, and skips what it missed
	ReasonWindow     Reason = "window"  // older than missed_window
	ReasonLimit      Reason = "limit"   // more were missed than missed_limit
	ReasonDSTGap     Reason = "dst_gap"
	ReasonDSTOverlap Reason = "dst_overlap"
)
