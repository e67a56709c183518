package schedules

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/functions/api/openapi"
)

// ruleDoc is a schedule's rule.
type ruleDoc struct {
	Cron       string               `json:"cron,omitempty" minLength:"1" maxLength:"1000" doc:"Five fields, or six with seconds first, or @daily and its like. This or every." example:"30 2 * * *"`
	Every      openapi.DurationText `json:"every,omitempty" doc:"Instead of cron: plain elapsed time from starts_at or creation, at least 1s."`
	TimeZone   openapi.LineText     `json:"time_zone,omitempty" minLength:"1" maxLength:"100" doc:"An IANA zone; left out, UTC." example:"Europe/Berlin"`
	DSTGap     string               `json:"dst_gap,omitempty" enum:"run_at_transition,shift,skip" doc:"What becomes of times that the clock jumps over. Left out, run_at_transition."`
	DSTOverlap string               `json:"dst_overlap,omitempty" enum:"first,last,both" doc:"In which pass of a repeated hour it runs. Left out, first."`
	StartsAt   string               `json:"starts_at,omitempty" format:"date-time" doc:"No instant before it."`
	EndsAt     string               `json:"ends_at,omitempty" format:"date-time" doc:"No instant at or after it."`
}

// newScheduleDoc is a schedule as it is put, beside its rule.
type newScheduleDoc struct {
	Type         string                 `json:"type" minLength:"1" maxLength:"200" pattern:"^[A-Za-z][A-Za-z0-9_:-]*([./][A-Za-z0-9_:-]+)*$" doc:"Of its jobs." example:"report.nightly"`
	Payload      any                    `json:"payload,omitempty" doc:"Of its jobs: any JSON of up to 1 MiB, kept byte for byte. Left out, it is {}."`
	Priority     string                 `json:"priority,omitempty" enum:"critical,default,bulk"`
	Tenant       openapi.LineText       `json:"tenant,omitempty" minLength:"1" maxLength:"255" doc:"Of the schedule and its jobs. It never changes: names are per tenant."`
	Missed       string                 `json:"missed,omitempty" enum:"all,once,skip" doc:"What becomes of instants that were not met in time. Left out, once."`
	MissedWindow openapi.DurationText   `json:"missed_window,omitempty" doc:"What was missed longer ago is not made up. Left out, there is no bound."`
	MissedLimit  int                    `json:"missed_limit,omitempty" minimum:"1" maximum:"10000" doc:"With all: at most so many are made up, the newest. Left out, 1000."`
	MissedGrace  openapi.DurationText   `json:"missed_grace,omitempty" doc:"Later than this counts as missed. Left out, 30s; never less than a failover takes."`
	Overlap      string                 `json:"overlap,omitempty" enum:"allow,skip,queue_one,cancel_running" doc:"What becomes of a run that comes due while the one before it is active. Left out, allow."`
	Jitter       openapi.DurationText   `json:"jitter,omitempty" doc:"Spreads runs over so long behind their instant, the same on every machine."`
	ExpectWithin openapi.DurationText   `json:"expect_within,omitempty" doc:"Dead man's switch: an alert is raised when no success is recorded so long after an instant."`
	ExpectPaused bool                   `json:"expect_paused,omitempty" doc:"Also while it is paused."`
	Paused       bool                   `json:"paused,omitempty"`
	MaxAttempts  int                    `json:"max_attempts,omitempty" minimum:"1" maximum:"100"`
	Timeout      openapi.DurationText   `json:"timeout,omitempty" doc:"Of one attempt: from 1s to 24h."`
	Backoff      []openapi.DurationText `json:"backoff,omitempty" nullable:"false" minItems:"1" maxItems:"20"`
	ExpiresAfter openapi.DurationText   `json:"expires_after,omitempty" doc:"A run is cancelled when it has not started so long after its run_at: a duration from 1s to 9600h (400 days). Left out, what the type says, or never."`
	Target       *openapi.TargetDoc     `json:"target,omitempty" doc:"Deliver its jobs there."`
	Tags         []openapi.LineText     `json:"tags,omitempty" nullable:"false" maxItems:"20" minLength:"1" maxLength:"64"`
}

// scheduleDoc is a schedule as it stands, beside what was put.
type scheduleDoc struct {
	Name        string `json:"name" example:"nightly report"`
	Version     int64  `json:"version" doc:"Rises with every change of the definition; the ETag."`
	Description string `json:"description,omitempty" doc:"The rule in words." example:"At 02:30 every day, Europe/Berlin"`
	Invalid     string `json:"invalid,omitempty" doc:"Why it makes no runs: its stored definition cannot be read, or somebody changed its row so that it never comes due. Putting a definition, also the same one, mends it. What of it can be read is shown; of one that cannot be read at all, type, payload and paused."`
	NextDue     string `json:"next_due,omitempty" format:"date-time" doc:"Absent where there is none any more, and while it is paused."`
	AccountedTo string `json:"accounted_to" format:"date-time" doc:"Every due instant up to here is in the ledger."`
	WaitingFor  string `json:"waiting_for,omitempty" format:"date-time" doc:"The instant whose run waits for the run before it to end."`
	PausedAt    string `json:"paused_at,omitempty" format:"date-time"`
	ExpectBy    string `json:"expect_by,omitempty" format:"date-time" doc:"When a success is next missed."`
	Alerted     bool   `json:"alerted" doc:"A success was missed, and nothing has succeeded since."`
	Active      bool   `json:"active" doc:"A run has not ended yet, back-off included."`
	TZData      string `json:"tz_data" doc:"Version of the time zone database that next_due was computed with." example:"2026a"`
	CreatedAt   string `json:"created_at" format:"date-time"`
	UpdatedAt   string `json:"updated_at" format:"date-time"`

	OutOfRange map[string]string `json:"out_of_range,omitempty" doc:"As of jobs."`
}

// scheduleChangeDoc is what putting a definition would do.
type scheduleChangeDoc struct {
	Action      string   `json:"action" enum:"create,change,none" doc:"What PUT would do: make the schedule, change it, or nothing."`
	Fields      []string `json:"fields" nullable:"false" doc:"What changes, by name; a header of a target as target.headers.NAME; next_due where the schedule never comes due and would again." example:"[\"cron\",\"target.headers.authorization\"]"`
	Tenant      string   `json:"tenant,omitempty" doc:"Whose schedule it is or would be: the one given, or the token's own."`
	Version     int64    `json:"version,omitempty" doc:"Of the schedule that is there, for If-Match."`
	Description string   `json:"description" doc:"The new rule in words." example:"At 02:30 every day, Europe/Berlin"`
}

// schedulePageDoc is one page of schedules.
type schedulePageDoc struct {
	Items      []scheduleDoc `json:"items" nullable:"false"`
	NextCursor string        `json:"next_cursor" doc:"Pass it as cursor for the next page; empty on the last one."`
}

// occurrenceDoc is a row of the ledger.
type occurrenceDoc struct {
	Outcome      string `json:"outcome" enum:"fired,caught_up,covered,skipped"`
	ScheduledFor string `json:"scheduled_for" format:"date-time" doc:"The due instant; of several, the first."`
	To           string `json:"to,omitempty" format:"date-time" doc:"Of several, the last."`
	Count        int64  `json:"count" doc:"How many due instants the row stands for."`
	Reason       string `json:"reason,omitempty" doc:"Why they were skipped: missed, overlap, paused, window, limit, dst_gap or dst_overlap."`
	JobID        string `json:"job_id,omitempty" doc:"The job that runs it, or covers it."`
	At           string `json:"at" format:"date-time" doc:"When it was accounted for."`
}

type occurrencePageDoc struct {
	Items      []occurrenceDoc `json:"items" nullable:"false"`
	NextCursor string          `json:"next_cursor"`
}

// previewAskDoc is what preview takes beside a rule.
type previewAskDoc struct {
	From  string `json:"from,omitempty" format:"date-time" doc:"Exclusive; left out, now."`
	Count int    `json:"count,omitempty" minimum:"1" maximum:"1000" doc:"Left out, 10."`
}

// previewDoc is what a rule comes to.
type previewDoc struct {
	Description string           `json:"description" example:"At 02:30 every day, Europe/Berlin"`
	Items       []previewItemDoc `json:"items" nullable:"false" doc:"Fewer than asked for: the rule ends, or never matches again."`
	Warnings    []string         `json:"warnings" nullable:"false"`
}

type previewItemDoc struct {
	At  string `json:"at" format:"date-time" doc:"With the zone's offset of its own date."`
	DST string `json:"dst,omitempty" enum:"gap,overlap" doc:"A change of the clock has to do with it."`
}

// backfillAskDoc is a range to make up.
type backfillAskDoc struct {
	From   string `json:"from" format:"date-time" doc:"The first instant that may be made up."`
	To     string `json:"to" format:"date-time" doc:"Exclusive."`
	DryRun bool   `json:"dry_run,omitempty" doc:"Only count."`
}

// backfillDoc is what was made up.
type backfillDoc struct {
	Count    int64            `json:"count" doc:"Instants in the range."`
	Made     int              `json:"made" doc:"Jobs made by this call, at most 10,000."`
	DryRun   bool             `json:"dry_run"`
	JobIDs   []openapi.IDText `json:"job_ids" nullable:"false"`
	NextFrom string           `json:"next_from,omitempty" format:"date-time" doc:"Where a further call goes on, because of the bound of one."`
}

// alertDoc is something an operator should know.
type alertDoc struct {
	ID        string `json:"id" pattern:"^[1-9][0-9]{0,18}$" example:"17"`
	Kind      string `json:"kind" example:"schedule_missed"`
	Subject   string `json:"subject" doc:"The schedule or type it is about; of job_failed the type, a slash and the error group."`
	Tenant    string `json:"tenant,omitempty"`
	Detail    string `json:"detail"`
	Count     int64  `json:"count,omitempty" doc:"How many jobs failed (job_failed)."`
	RaisedAt  string `json:"raised_at" format:"date-time"`
	ClearedAt string `json:"cleared_at,omitempty" format:"date-time" doc:"Absent while it is open."`
}

type alertPageDoc struct {
	Items      []alertDoc `json:"items" nullable:"false"`
	NextCursor string     `json:"next_cursor"`
}

// include adds the fields of T's schema.
func include[T any](schemas huma.Registry, s *huma.Schema) {
	of := huma.SchemaFromType(schemas, reflect.TypeFor[T]())
	for name, field := range of.Properties {
		s.Properties[name] = field
	}
	s.Required = append(s.Required, of.Required...)
}

// cronOrEvery says that a rule is a cron expression or an interval.
func cronOrEvery(s *huma.Schema) {
	s.OneOf = []*huma.Schema{{Required: []string{"cron"}}, {Required: []string{"every"}}}
}

// TransformSchema adds the rule.
func (newScheduleDoc) TransformSchema(schemas huma.Registry, s *huma.Schema) *huma.Schema {
	include[ruleDoc](schemas, s)
	cronOrEvery(s)
	s.Examples = []any{json.RawMessage(`{"cron":"30 2 * * *","time_zone":"Europe/Berlin","type":"report.nightly","missed":"once","overlap":"skip","expect_within":"1h"}`)}
	return s
}

// TransformSchema adds what was put. What has a default is always there, but for words of a damaged definition.
func (scheduleDoc) TransformSchema(schemas huma.Registry, s *huma.Schema) *huma.Schema {
	include[newScheduleDoc](schemas, s)
	s.Required = append(s.Required, "paused", "payload", "tags")
	s.Examples = []any{json.RawMessage(`{"name":"nightly report","cron":"30 2 * * *","time_zone":"Europe/Berlin","dst_gap":"run_at_transition","dst_overlap":"first",` +
		`"missed":"once","overlap":"skip","expect_within":"1h0m0s","paused":false,"type":"report.nightly","payload":{},"priority":"default","tags":[],"version":1,` +
		`"description":"At 02:30 every day, Europe/Berlin","next_due":"2026-03-02T01:30:00.000000Z","accounted_to":"` + openapi.InstantExample + `","alerted":false,` +
		`"active":false,"tz_data":"2026a","created_at":"` + openapi.InstantExample + `","updated_at":"` + openapi.InstantExample + `"}`)}
	return s
}

// TransformSchema adds the rule.
func (previewAskDoc) TransformSchema(schemas huma.Registry, s *huma.Schema) *huma.Schema {
	include[ruleDoc](schemas, s)
	cronOrEvery(s)
	s.Examples = []any{json.RawMessage(`{"cron":"30 2 * * *","time_zone":"Europe/Berlin","count":3}`)}
	return s
}
