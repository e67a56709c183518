package openapi

import "github.com/belfry-dev/belfry/functions/api/problem"

// The types here exist for the OpenAPI document: their tags are the schemas of what decode*.go reads and
// jobdoc.go writes. Tests hold every answer against them.

// durationPattern is what a duration looks like.
const durationPattern = `^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*$`

// NewJobDoc is a job as submitted.
type NewJobDoc struct {
	Type        string         `json:"type" minLength:"1" maxLength:"200" pattern:"^[A-Za-z][A-Za-z0-9_:-]*([./][A-Za-z0-9_:-]+)*$" doc:"Names the handler. Names that begin with belfry. are Belfry's own." example:"mail.send"`
	Payload     any            `json:"payload,omitempty" doc:"Any JSON of up to 1 MiB and 100 levels, kept byte for byte. Left out, it is {}."`
	RunAt       string         `json:"run_at,omitempty" format:"date-time" doc:"When it may start: from 10 years ago to 100 years ahead, kept to the microsecond. Neither run_at nor delay means now."`
	Delay       DurationText   `json:"delay,omitempty" doc:"Instead of run_at: a duration from now, by the store's clock." example:"1h30m"`
	Priority    string         `json:"priority,omitempty" enum:"critical,default,bulk" doc:"Left out, it is default."`
	Tenant      LineText       `json:"tenant,omitempty" minLength:"1" maxLength:"255" doc:"For whom; left out, for nobody in particular."`
	DedupeKey   LineText       `json:"dedupe_key,omitempty" minLength:"1" maxLength:"512" doc:"While a live job of the same tenant has this key, submitting again answers with that job. Nothing else makes two jobs the same, whatever their payloads. Keys that begin with belfry. are Belfry's own."`
	MaxAttempts int            `json:"max_attempts,omitempty" minimum:"1" maximum:"100" doc:"Left out, it is what the type says, else 5."`
	Timeout     DurationText   `json:"timeout,omitempty" doc:"Of one attempt: a duration from 1s to 24h." example:"90s"`
	ExpiresAt   string         `json:"expires_at,omitempty" format:"date-time" doc:"Not started after this: it is cancelled instead. After run_at."`
	Backoff     []DurationText `json:"backoff,omitempty" nullable:"false" minItems:"1" maxItems:"20" doc:"Waits between attempts, the last one repeating: durations of up to 720h." example:"[\"30s\",\"2m\"]"`
	Target      *TargetDoc     `json:"target,omitempty" doc:"Deliver this job there, whatever its type says. Refused where no delivery is set up, and where no delivery may go."`
	Tags        []LineText     `json:"tags,omitempty" nullable:"false" maxItems:"20" minLength:"1" maxLength:"64" doc:"Up to 64 bytes each."`
}

// TargetDoc is where a job is delivered instead of being handled by a worker.
type TargetDoc struct {
	URL     string            `json:"url" maxLength:"4096" doc:"http or https, without user or password." example:"https://hooks.example.com/belfry"`
	Headers map[string]string `json:"headers,omitempty" nullable:"false" doc:"Up to 50, of your own choice. Answers show names, and ******** for each value."`
}

// JobDoc is a job as it stands.
type JobDoc struct {
	ID          string            `json:"id" pattern:"^[1-9][0-9]{0,18}$" example:"17"`
	Type        string            `json:"type"`
	Payload     any               `json:"payload" doc:"The bytes that were submitted."`
	Priority    string            `json:"priority" enum:"critical,default,bulk"`
	Tenant      string            `json:"tenant,omitempty"`
	RunAt       string            `json:"run_at" format:"date-time" doc:"When it may start; after an error, when it is tried again."`
	Status      string            `json:"status" enum:"scheduled,queued,running,done,failed,cancelled"`
	Reason      string            `json:"reason,omitempty" enum:"cancelled,expired" doc:"Of a cancelled job: expired where its expires_at passed before it started, else cancelled, by a call or by its schedule."`
	CancelWant  bool              `json:"cancel_wanted" doc:"It runs, and its worker is told to stop."`
	Attempts    int               `json:"attempts" doc:"Attempts charged so far."`
	MaxAttempts int               `json:"max_attempts"`
	Snoozes     int               `json:"snoozes,omitempty" doc:"How often its handler asked for a later run, without using an attempt."`
	Errors      []attemptErrorDoc `json:"errors" nullable:"false" doc:"The last 20 attempts that were no success, oldest first."`
	Result      any               `json:"result,omitempty" doc:"What its handler answered."`
	DedupeKey   string            `json:"dedupe_key,omitempty"`
	Timeout     DurationText      `json:"timeout,omitempty" example:"1m30s"`
	ExpiresAt   string            `json:"expires_at,omitempty" format:"date-time"`
	Backoff     []DurationText    `json:"backoff,omitempty" nullable:"false"`
	Target      *TargetDoc        `json:"target,omitempty"`
	Tags        []string          `json:"tags" nullable:"false"`
	WorkerID    string            `json:"worker_id,omitempty" doc:"Who ran it last."`
	LeaseUntil  string            `json:"lease_until,omitempty" format:"date-time" doc:"While it runs: the end of its worker's lease."`
	Schedule    string            `json:"schedule,omitempty" doc:"The schedule that made it."`
	ScheduledAt string            `json:"scheduled_for,omitempty" format:"date-time" doc:"The due instant that it runs for; of several, the last."`
	CatchUp     bool              `json:"catch_up,omitempty" doc:"It is made up late."`
	Covers      int64             `json:"covers,omitempty" doc:"How many due instants it stands for, where it is more than one."`
	CoversFrom  string            `json:"covers_from,omitempty" format:"date-time" doc:"The first of these."`
	CreatedAt   string            `json:"created_at" format:"date-time"`
	StartedAt   string            `json:"started_at,omitempty" format:"date-time" doc:"Start of the last attempt."`
	FinishedAt  string            `json:"finished_at,omitempty" format:"date-time"`
	OutOfRange  map[string]string `json:"out_of_range,omitempty" doc:"What SQL has stored for fields whose times RFC 3339 has no form for, such as infinity or a year of five digits; the fields themselves show the first or last time of the range." example:"{\"run_at\":\"infinity\"}"`
	Unreadable  string            `json:"unreadable,omitempty" doc:"A value of the row cannot be read any more, and this is what the store says of it: payload is null, errors and tags are empty, and result, target, backoff and covers are left out, whatever the job had." example:"missing chunk number 0 for toast value 16500 in pg_toast_16390 (SQLSTATE XX001)"`
	Duplicate   bool              `json:"duplicate,omitempty" doc:"In answers to a submit: the dedupe key was taken, and this is the job that has it."`
	Abridged    bool              `json:"abridged,omitempty" doc:"In the answer to a batch, of a duplicate of more than 4 KiB: payload is null, errors is empty and target is left out, whatever the job has."`
}

// attemptErrorDoc is one attempt that was no success.
type attemptErrorDoc struct {
	Attempt int    `json:"attempt"`
	At      string `json:"at" format:"date-time"`
	Error   string `json:"error" doc:"At most 2 KiB."`
	Kind    string `json:"kind,omitempty" doc:"error, timeout, panic, lost, permanent or snooze; result on a job that is done, whose result was lost."`
	Losses  int    `json:"losses,omitempty" doc:"Of a lost run: how many in a row were lost with their workers. With two the job runs beside no other such job, with five it fails for good."`
}

// BatchDoc is several jobs at once.
type BatchDoc struct {
	Jobs []NewJobDoc `json:"jobs" nullable:"false" minItems:"1" maxItems:"10000"`
}

// BatchErrorDoc stands in a batch's answer for a job that was refused.
type BatchErrorDoc struct {
	Error problem.Problem `json:"error"`
}

// PageDoc is one page of jobs.
type PageDoc struct {
	Items      []JobDoc `json:"items" nullable:"false"`
	NextCursor string   `json:"next_cursor" doc:"Pass it as cursor for the next page, also where this one is short or empty: few matched among the many jobs that one call looks at. Empty on the last page."`
}

// WhenDoc is a new run_at: one of the two.
type WhenDoc struct {
	RunAt string       `json:"run_at,omitempty" format:"date-time"`
	Delay DurationText `json:"delay,omitempty" doc:"A duration from now, by the store's clock." example:"10m"`
}

// EmptyDoc is a body that says nothing.
type EmptyDoc struct{}

// HealthDoc says that all is well; what is not well is a problem.
type HealthDoc struct {
	Status string `json:"status" enum:"ok"`
}
