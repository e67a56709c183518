package schedules

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/openapi"
)

// etagPattern is what an ETag looks like.
const etagPattern = `^"[1-9][0-9]{0,17}"$`

// Routes are the calls about schedules and alerts.
func (a *Calls) Routes(schemas huma.Registry) []call.Route {
	if a.Schedules == nil || a.Ledger == nil {
		return nil
	}
	const tag, path = "Schedules", "/v1/schedules/{name}"
	one, preview := openapi.SchemaOf[scheduleDoc](schemas), openapi.SchemaOf[previewDoc](schemas)
	page := pageParamsOf("Schedules", 600)
	put := openapi.Describe(schemas, tag, "put-schedule", http.MethodPut, path, "Make or change a schedule",
		"The definition is replaced as a whole; putting the same again changes nothing. A changed rule counts from now: nothing before now fires.").
		With(scheduleName(), precondition(MatchHeader, `The ETag of the version to replace, such as "3", or several with commas; * asks that there is one. Weak ones (W/"3") match none.`, matchSchema()), precondition(NoneMatchHeader, "With * only a new schedule is made; with ETags only another version is replaced.", matchSchema())).
		Takes(openapi.SchemaOf[newScheduleDoc](schemas), true).Answers(http.StatusCreated, "The new schedule.", one).Answers(http.StatusOK, "The schedule.", one)
	gone := openapi.Describe(schemas, tag, "delete-schedule", http.MethodDelete, path, "Delete a schedule", "Its ledger goes with it; the jobs it made stay.").
		With(scheduleName(), tenantParam(), precondition(MatchHeader, "Only in this version.", matchSchema()), precondition(NoneMatchHeader, "Only in another version; * matches every one.", matchSchema()))
	gone.Responses["204"] = &huma.Response{Description: "Deleted."}
	made := openapi.Describe(schemas, tag, "trigger-schedule", http.MethodPost, path+"/trigger", "Make a run now", "Beside the rule: the ledger does not know it, and no overlap policy holds it.").
		With(scheduleName(), tenantParam()).Takes(openapi.SchemaOf[openapi.EmptyDoc](schemas), false).Answers(http.StatusCreated, "The job.", openapi.SchemaOf[openapi.JobDoc](schemas))
	made.Responses["201"].Headers = map[string]*huma.Param{"Location": {Description: "Path of the job, below the prefix that X-Forwarded-Prefix names.", Schema: &huma.Schema{Type: huma.TypeString}}}
	turn := func(id, verb, summary, text string) *huma.Operation {
		return tagged(openapi.Describe(schemas, tag, id, http.MethodPost, path+"/"+verb, summary, text).With(scheduleName(), tenantParam()).
			Takes(openapi.SchemaOf[openapi.EmptyDoc](schemas), false).Answers(http.StatusOK, "The schedule.", one)).RefusesBody(http.StatusNotFound, http.StatusConflict)
	}
	routes := []call.Route{
		{Op: openapi.Describe(schemas, tag, "list-schedules", http.MethodGet, "/v1/schedules", "List schedules", "By tenant and name.").
			With(openapi.Query("type", "Of this type.", openapi.TextSchema(core.MaxTypeBytes)), openapi.TenantFilter("Schedules"), openapi.Query("paused", "Only those that are paused, or that are not.", &huma.Schema{Type: huma.TypeBoolean})).
			With(page...).Answers(http.StatusOK, "A page.", openapi.SchemaOf[schedulePageDoc](schemas)).Refuses(http.StatusUnprocessableEntity), Handle: a.listSchedules, Extra: 0},
		{Op: tagged(openapi.Describe(schemas, tag, "get-schedule", http.MethodGet, path, "Look at a schedule", "").With(scheduleName(), tenantParam()).
			Answers(http.StatusOK, "The schedule.", one)).Refuses(http.StatusNotFound, http.StatusUnprocessableEntity), Handle: a.getSchedule, Extra: 0},
		{Op: tagged(put).RefusesBody(http.StatusPreconditionFailed), Handle: a.putSchedule, Extra: a.Limits.BodyTime},
		{Op: openapi.Describe(schemas, tag, "plan-schedule", http.MethodPost, path+"/plan", "What would a definition change?",
			"Checks all that PUT checks, and keeps nothing. Values are compared by what they mean, those of a target's headers too, which it does not show.").
			With(scheduleName()).Takes(openapi.SchemaOf[newScheduleDoc](schemas), true).
			Answers(http.StatusOK, "What PUT would do.", openapi.SchemaOf[scheduleChangeDoc](schemas)).RefusesBody(), Handle: a.planSchedule, Extra: a.Limits.BodyTime},
		{Op: gone.Refuses(http.StatusNotFound, http.StatusPreconditionFailed, http.StatusUnprocessableEntity), Handle: a.deleteSchedule, Extra: 0},
		{Op: turn("pause-schedule", "pause", "Pause a schedule", "Nothing fires until it is resumed."), Handle: a.pauseSchedule, Extra: a.Limits.BodyTime},
		{Op: turn("resume-schedule", "resume", "Resume a schedule", "Runs that came due during the pause follow the missed policy, once."), Handle: a.resumeSchedule, Extra: a.Limits.BodyTime},
		{Op: made.RefusesBody(http.StatusNotFound, http.StatusConflict), Handle: a.triggerSchedule, Extra: a.Limits.BodyTime},
		{Op: openapi.Describe(schemas, tag, "backfill-schedule", http.MethodPost, path+"/backfill", "Make runs for a range of the past", "One run for each instant of the present rule, marked as made up late. The ledger stays as it is. Count with dry_run first.").
			With(scheduleName(), tenantParam()).Takes(openapi.SchemaOf[backfillAskDoc](schemas), true).
			Answers(http.StatusOK, "What was made.", openapi.SchemaOf[backfillDoc](schemas)).RefusesBody(http.StatusNotFound, http.StatusConflict), Handle: a.backfillSchedule, Extra: a.Limits.BodyTime},
	}
	return append(routes, []call.Route{
		{Op: openapi.Describe(schemas, tag, "list-occurrences", http.MethodGet, path+"/occurrences", "Look into a schedule's ledger", "Newest first: what became of each due instant.").
			With(scheduleName(), tenantParam(), openapi.Query("from", "Instants at this time or later.", openapi.TimeSchema()),
																						openapi.Query("outcome", "With this outcome.", openapi.WordSchema("fired", "caught_up", "covered", "skipped"))).With(page...).
			Answers(http.StatusOK, "A page.", openapi.SchemaOf[occurrencePageDoc](schemas)).Refuses(http.StatusNotFound, http.StatusUnprocessableEntity), Handle: a.occurrences, Extra: 0},
		{Op: openapi.Describe(schemas, tag, "next-occurrences", http.MethodGet, path+"/next", "When is a schedule due next?", "As preview shows it.").
			With(scheduleName(), tenantParam(), openapi.Query("count", "How many.", openapi.WholeSchema(1, maxPreview, 10))).
			Answers(http.StatusOK, "The next instants.", preview).Refuses(http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity), Handle: a.nextOccurrences, Extra: 0},
		{Op: openapi.Describe(schemas, tag, "preview-schedule", http.MethodPost, "/v1/schedules/preview", "When would a rule be due?", "Nothing is kept.").
			Takes(openapi.SchemaOf[previewAskDoc](schemas), true).Answers(http.StatusOK, "What the rule comes to.", preview).RefusesBody(), Handle: a.previewSchedule, Extra: a.Limits.BodyTime},
		{Op: openapi.Describe(schemas, tag, "list-alerts", http.MethodGet, "/v1/alerts", "List alerts", "Newest first: what an operator should know.").
			With(openapi.TenantFilter("Alerts"), openapi.Query("kind", "Of this kind.", openapi.TextSchema(100)), openapi.Query("open", "Only those that are not cleared.", &huma.Schema{Type: huma.TypeBoolean})).With(page...).
			Answers(http.StatusOK, "A page.", openapi.SchemaOf[alertPageDoc](schemas)).Refuses(http.StatusUnprocessableEntity), Handle: a.listAlerts, Extra: 0},
	}...)
}

// tagged notes that an operation's answers carry an ETag.
func tagged(o openapi.Operation) openapi.Operation {
	for status, response := range o.Responses {
		if status < "3" {
			response.Headers = map[string]*huma.Param{"ETag": {Description: "The version, for If-Match.", Schema: &huma.Schema{Type: huma.TypeString, Pattern: etagPattern}}}
		}
	}
	return o
}

func scheduleName() *huma.Param {
	least := 1
	most := schedule.MaxScheduleNameBytes
	return &huma.Param{Name: "name", In: "path", Required: true, Description: "The schedule's name. What a path cannot hold is percent-encoded.", Example: "nightly",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most, Pattern: openapi.LinePattern}}
}

func tenantParam() *huma.Param {
	return openapi.Query("tenant", "The tenant; left out, the token's own, or none.", openapi.TextSchema(core.MaxTenantBytes))
}

func matchSchema() *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: tagsPattern, Examples: []any{`"3"`}}
}

func precondition(name, text string, schema *huma.Schema) *huma.Param {
	return &huma.Param{Name: name, In: "header", Description: text, Schema: schema}
}

func pageParamsOf(what string, cursor int) []*huma.Param {
	return []*huma.Param{openapi.Query("limit", what+" on a page.", openapi.WholeSchema(1, call.MaxPage, call.DefaultPage)), openapi.Query("cursor", "The next_cursor of the page before.", openapi.TextSchema(cursor))}
}
