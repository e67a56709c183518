package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/core"
)

// ruleDoc is a schedule's rule.
type ruleDoc struct {
	Cron       string       `json:"cron,omitempty" maxLength:"1000" doc:"Five fields, or six with seconds first, or @daily and its like. This or every." example:"30 2 * * *"`
	Every      durationText `json:"every,omitempty" doc:"Instead of cron: plain elapsed time from starts_at or creation, at least 1s."`
	TimeZone   lineText     `json:"time_zone,omitempty" minLength:"1" maxLength:"100" doc:"An IANA zone; left out, UTC." example:"Europe/Berlin"`
	DSTGap     string       `json:"dst_gap,omitempty" enum:"run_at_transition,shift,skip" doc:"What becomes of times that the clock jumps over. Left out, run_at_transition."`
	DSTOverlap string       `json:"dst_overlap,omitempty" enum:"first,last,both" doc:"In which pass of a repeated hour it runs. Left out, first."`
	StartsAt   string       `json:"starts_at,omitempty" format:"date-time" doc:"No instant before it."`
	EndsAt     string       `json:"ends_at,omitempty" format:"date-time" doc:"No instant at or after it."`
}

// newScheduleDoc is a schedule as it is put.
type newScheduleDoc struct {
	ruleDoc
	Type         string         `json:"type" minLength:"1" maxLength:"200" pattern:"^[A-Za-z][A-Za-z0-9_:-]*([./][A-Za-z0-9_:-]+)*$" doc:"Of its jobs." example:"report.nightly"`
	Payload      any            `json:"payload,omitempty" doc:"Of its jobs: any JSON of up to 1 MiB, kept byte for byte. Left out, it is {}."`
	Priority     string         `json:"priority,omitempty" enum:"critical,default,bulk"`
	Tenant       lineText       `json:"tenant,omitempty" maxLength:"255" doc:"Of the schedule and its jobs. It never changes: names are per tenant."`
	Missed       string         `json:"missed,omitempty" enum:"all,once,skip" doc:"What becomes of instants that were not met in time. Left out, once."`
	MissedWindow durationText   `json:"missed_window,omitempty" doc:"What was missed longer ago is not made up. Left out, there is no bound."`
	MissedLimit  int            `json:"missed_limit,omitempty" minimum:"1" maximum:"10000" doc:"With all: at most so many are made up, the newest. Left out, 1000."`
	MissedGrace  durationText   `json:"missed_grace,omitempty" doc:"Later than this counts as missed. Left out, 30s; never less than a failover takes."`
	Overlap      string         `json:"overlap,omitempty" enum:"allow,skip,queue_one,cancel_running" doc:"What becomes of a run that comes due while the one before it is active. Left out, allow."`
	Jitter       durationText   `json:"jitter,omitempty" doc:"Spreads runs over so long behind their instant, the same on every machine."`
	ExpectWithin durationText   `json:"expect_within,omitempty" doc:"Dead man's switch: an alert is raised when no success is recorded so long after an instant."`
	ExpectPaused bool           `json:"expect_paused,omitempty" doc:"Also while it is paused."`
	Paused       bool           `json:"paused,omitempty"`
	MaxAttempts  int            `json:"max_attempts,omitempty" minimum:"1" maximum:"100"`
	Timeout      durationText   `json:"timeout,omitempty" doc:"Of one attempt: from 1s to 24h."`
	Backoff      []durationText `json:"backoff,omitempty" nullable:"false" minItems:"1" maxItems:"20"`
	Target       *targetDoc     `json:"target,omitempty" doc:"Deliver its jobs there."`
	Tags         []lineText     `json:"tags,omitempty" nullable:"false" maxItems:"20" minLength:"1" maxLength:"64"`
}

// scheduleDoc is a schedule as it stands.
type scheduleDoc struct {
	newScheduleDoc
	Name        string `json:"name" example:"nightly report"`
	Version     int64  `json:"version" doc:"Rises with every change of the definition; the ETag."`
	Description string `json:"description,omitempty" doc:"The rule in words." example:"At 02:30 every day, Europe/Berlin"`
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

// previewAskDoc is a rule to look at.
type previewAskDoc struct {
	ruleDoc
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
	Count    int64    `json:"count" doc:"Instants in the range."`
	Made     int      `json:"made" doc:"Jobs made by this call, at most 10,000."`
	DryRun   bool     `json:"dry_run"`
	JobIDs   []idText `json:"job_ids" nullable:"false"`
	NextFrom string   `json:"next_from,omitempty" format:"date-time" doc:"Where a further call goes on, because of the bound of one."`
}

// alertDoc is something an operator should know.
type alertDoc struct {
	ID        string `json:"id" pattern:"^[1-9][0-9]{0,18}$" example:"17"`
	Kind      string `json:"kind" example:"schedule_missed"`
	Subject   string `json:"subject" doc:"The schedule or type it is about."`
	Tenant    string `json:"tenant,omitempty"`
	Detail    string `json:"detail"`
	RaisedAt  string `json:"raised_at" format:"date-time"`
	ClearedAt string `json:"cleared_at,omitempty" format:"date-time" doc:"Absent while it is open."`
}

type alertPageDoc struct {
	Items      []alertDoc `json:"items" nullable:"false"`
	NextCursor string     `json:"next_cursor"`
}

// TransformSchema says that a rule is a cron expression or an interval.
func (newScheduleDoc) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.OneOf = []*huma.Schema{{Required: []string{"cron"}}, {Required: []string{"every"}}}
	s.Examples = []any{map[string]any{"cron": "30 2 * * *", "time_zone": "Europe/Berlin", "type": "report.nightly", "missed": "once", "overlap": "skip", "expect_within": "1h"}}
	return s
}

// TransformSchema says the same of a preview.
func (previewAskDoc) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.OneOf = []*huma.Schema{{Required: []string{"cron"}}, {Required: []string{"every"}}}
	s.Examples = []any{map[string]any{"cron": "30 2 * * *", "time_zone": "Europe/Berlin", "count": 3}}
	return s
}

// scheduleRoutes are the calls about schedules and alerts.
func (a *API) scheduleRoutes(doc huma.API) []route {
	if a.Schedules == nil || a.Ledger == nil {
		return nil
	}
	const tag, path = "Schedules", "/v1/schedules/{name}"
	schemas := doc.OpenAPI().Components.Schemas
	one, preview := tagged(schemaOf[scheduleDoc](schemas)), schemaOf[previewDoc](schemas)
	page := pageParamsOf("Schedules", 600)
	put := describe(doc, tag, "put-schedule", http.MethodPut, path, "Make or change a schedule",
		"The definition is replaced as a whole; putting the same again changes nothing. A changed rule counts from now: nothing before now fires.").
		with(scheduleName(), precondition("If-Match", `The ETag of the version to replace, such as "3".`), precondition("If-None-Match", "With * only a new schedule is made.")).
		takes(schemaOf[newScheduleDoc](schemas), true).answers(http.StatusCreated, "The new schedule.", one).answers(http.StatusOK, "The schedule.", one)
	gone := describe(doc, tag, "delete-schedule", http.MethodDelete, path, "Delete a schedule", "Its ledger goes with it; the jobs it made stay.").
		with(scheduleName(), tenantParam(), precondition("If-Match", "Only in this version."))
	gone.Responses["204"] = &huma.Response{Description: "Deleted."}
	made := describe(doc, tag, "trigger-schedule", http.MethodPost, path+"/trigger", "Make a run now", "Beside the rule: the ledger does not know it, and no overlap policy holds it.").
		with(scheduleName(), tenantParam()).takes(schemaOf[emptyDoc](schemas), false).answers(http.StatusCreated, "The job.", schemaOf[jobDoc](schemas))
	made.Responses["201"].Headers = map[string]*huma.Param{"Location": {Description: "Path of the job.", Schema: &huma.Schema{Type: huma.TypeString}}}
	turn := func(id, verb, summary, text string) *huma.Operation {
		return describe(doc, tag, id, http.MethodPost, path+"/"+verb, summary, text).with(scheduleName(), tenantParam()).
			takes(schemaOf[emptyDoc](schemas), false).answers(http.StatusOK, "The schedule.", one).refusesBody(http.StatusNotFound)
	}
	routes := []route{
		{describe(doc, tag, "list-schedules", http.MethodGet, "/v1/schedules", "List schedules", "By tenant and name.").
			with(query("type", "Of this type.", textSchema(core.MaxTypeBytes)), tenantParam(), query("paused", "Only those that are paused, or that are not.", &huma.Schema{Type: huma.TypeBoolean})).
			with(page...).answers(http.StatusOK, "A page.", schemaOf[schedulePageDoc](schemas)).refuses(http.StatusUnprocessableEntity), a.listSchedules, 0},
		{describe(doc, tag, "get-schedule", http.MethodGet, path, "Look at a schedule", "").with(scheduleName(), tenantParam()).
			answers(http.StatusOK, "The schedule.", one).refuses(http.StatusNotFound, http.StatusUnprocessableEntity), a.getSchedule, 0},
		{put.refusesBody(http.StatusPreconditionFailed), a.putSchedule, a.Limits.BodyTime},
		{gone.refuses(http.StatusNotFound, http.StatusPreconditionFailed, http.StatusUnprocessableEntity), a.deleteSchedule, 0},
		{turn("pause-schedule", "pause", "Pause a schedule", "Nothing fires until it is resumed."), a.pauseSchedule, a.Limits.BodyTime},
		{turn("resume-schedule", "resume", "Resume a schedule", "What came due in the pause fares by the missed policy, once."), a.resumeSchedule, a.Limits.BodyTime},
		{made.refusesBody(http.StatusNotFound), a.triggerSchedule, a.Limits.BodyTime},
		{describe(doc, tag, "backfill-schedule", http.MethodPost, path+"/backfill", "Make runs for a range of the past", "One run for each instant of the present rule, marked as made up late. The ledger stays as it is. Count with dry_run first.").
			with(scheduleName(), tenantParam()).takes(schemaOf[backfillAskDoc](schemas), true).
			answers(http.StatusOK, "What was made.", schemaOf[backfillDoc](schemas)).refusesBody(http.StatusNotFound), a.backfillSchedule, a.Limits.BodyTime},
	}
	return append(routes, []route{
		{describe(doc, tag, "list-occurrences", http.MethodGet, path+"/occurrences", "Look into a schedule's ledger", "Newest first: what became of each due instant.").
			with(scheduleName(), tenantParam(), query("from", "Instants at this time or later.", timeSchema()),
				query("outcome", "With this outcome.", wordSchema("fired", "caught_up", "covered", "skipped"))).with(page...).
			answers(http.StatusOK, "A page.", schemaOf[occurrencePageDoc](schemas)).refuses(http.StatusNotFound, http.StatusUnprocessableEntity), a.occurrences, 0},
		{describe(doc, tag, "next-occurrences", http.MethodGet, path+"/next", "When is a schedule due next?", "As preview shows it.").
			with(scheduleName(), tenantParam(), query("count", "How many.", wholeSchema(1, maxPreview, 10))).
			answers(http.StatusOK, "The next instants.", preview).refuses(http.StatusNotFound, http.StatusUnprocessableEntity), a.nextOccurrences, 0},
		{describe(doc, tag, "preview-schedule", http.MethodPost, "/v1/schedules/preview", "When would a rule be due?", "Nothing is kept.").
			takes(schemaOf[previewAskDoc](schemas), true).answers(http.StatusOK, "What the rule comes to.", preview).refusesBody(), a.previewSchedule, a.Limits.BodyTime},
		{describe(doc, tag, "list-alerts", http.MethodGet, "/v1/alerts", "List alerts", "Newest first: what an operator should know.").
			with(tenantParam(), query("kind", "Of this kind.", textSchema(100)), query("open", "Only those that are not cleared.", &huma.Schema{Type: huma.TypeBoolean})).with(page...).
			answers(http.StatusOK, "A page.", schemaOf[alertPageDoc](schemas)).refuses(http.StatusUnprocessableEntity), a.listAlerts, 0},
	}...)
}

// tagged is a schema as it stands; the answers with it carry an ETag.
func tagged(s *huma.Schema) *huma.Schema { return s }

func scheduleName() *huma.Param {
	least := 1
	most := core.MaxScheduleNameBytes
	return &huma.Param{Name: "name", In: "path", Required: true, Description: "The schedule's name. What a path cannot hold is percent-encoded.", Example: "nightly",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most, Pattern: linePattern}}
}

func tenantParam() *huma.Param {
	return query("tenant", "The tenant; left out, the token's own, or none.", textSchema(core.MaxTenantBytes))
}

func precondition(name, text string) *huma.Param {
	most := 100
	return &huma.Param{Name: name, In: "header", Description: text, Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &most}}
}

func pageParamsOf(what string, cursor int) []*huma.Param {
	return []*huma.Param{query("limit", what+" on a page.", wholeSchema(1, maxPage, defaultPage)), query("cursor", "The next_cursor of the page before.", textSchema(cursor))}
}
