package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/core"
)

// etagPattern is what an ETag looks like.
const etagPattern = `^"[1-9][0-9]{0,17}"$`

// scheduleRoutes are the calls about schedules and alerts.
func (a *API) scheduleRoutes(schemas huma.Registry) []route {
	if a.Schedules == nil || a.Ledger == nil {
		return nil
	}
	const tag, path = "Schedules", "/v1/schedules/{name}"
	one, preview := schemaOf[scheduleDoc](schemas), schemaOf[previewDoc](schemas)
	page := pageParamsOf("Schedules", 600)
	put := describe(schemas, tag, "put-schedule", http.MethodPut, path, "Make or change a schedule",
		"The definition is replaced as a whole; putting the same again changes nothing. A changed rule counts from now: nothing before now fires.").
		with(scheduleName(), precondition("If-Match", `The ETag of the version to replace, such as "3", or several with commas; * asks that there is one. Weak ones (W/"3") match none.`, matchSchema()), precondition("If-None-Match", "With * only a new schedule is made; with ETags only another version is replaced.", matchSchema())).
		takes(schemaOf[newScheduleDoc](schemas), true).answers(http.StatusCreated, "The new schedule.", one).answers(http.StatusOK, "The schedule.", one)
	gone := describe(schemas, tag, "delete-schedule", http.MethodDelete, path, "Delete a schedule", "Its ledger goes with it; the jobs it made stay.").
		with(scheduleName(), tenantParam(), precondition("If-Match", "Only in this version.", matchSchema()))
	gone.Responses["204"] = &huma.Response{Description: "Deleted."}
	made := describe(schemas, tag, "trigger-schedule", http.MethodPost, path+"/trigger", "Make a run now", "Beside the rule: the ledger does not know it, and no overlap policy holds it.").
		with(scheduleName(), tenantParam()).takes(schemaOf[emptyDoc](schemas), false).answers(http.StatusCreated, "The job.", schemaOf[jobDoc](schemas))
	made.Responses["201"].Headers = map[string]*huma.Param{"Location": {Description: "Path of the job, below the prefix that X-Forwarded-Prefix names.", Schema: &huma.Schema{Type: huma.TypeString}}}
	turn := func(id, verb, summary, text string) *huma.Operation {
		return tagged(describe(schemas, tag, id, http.MethodPost, path+"/"+verb, summary, text).with(scheduleName(), tenantParam()).
			takes(schemaOf[emptyDoc](schemas), false).answers(http.StatusOK, "The schedule.", one)).refusesBody(http.StatusNotFound, http.StatusConflict)
	}
	routes := []route{
		{describe(schemas, tag, "list-schedules", http.MethodGet, "/v1/schedules", "List schedules", "By tenant and name.").
			with(query("type", "Of this type.", textSchema(core.MaxTypeBytes)), tenantFilter("Schedules"), query("paused", "Only those that are paused, or that are not.", &huma.Schema{Type: huma.TypeBoolean})).
			with(page...).answers(http.StatusOK, "A page.", schemaOf[schedulePageDoc](schemas)).refuses(http.StatusUnprocessableEntity), a.listSchedules, 0},
		{tagged(describe(schemas, tag, "get-schedule", http.MethodGet, path, "Look at a schedule", "").with(scheduleName(), tenantParam()).
			answers(http.StatusOK, "The schedule.", one)).refuses(http.StatusNotFound, http.StatusUnprocessableEntity), a.getSchedule, 0},
		{tagged(put).refusesBody(http.StatusPreconditionFailed), a.putSchedule, a.Limits.BodyTime},
		{describe(schemas, tag, "plan-schedule", http.MethodPost, path+"/plan", "What would a definition change?",
			"Checks all that PUT checks, and keeps nothing. Values are compared by what they mean, those of a target's headers too, which it does not show.").
			with(scheduleName()).takes(schemaOf[newScheduleDoc](schemas), true).
			answers(http.StatusOK, "What PUT would do.", schemaOf[scheduleChangeDoc](schemas)).refusesBody(), a.planSchedule, a.Limits.BodyTime},
		{gone.refuses(http.StatusNotFound, http.StatusPreconditionFailed, http.StatusUnprocessableEntity), a.deleteSchedule, 0},
		{turn("pause-schedule", "pause", "Pause a schedule", "Nothing fires until it is resumed."), a.pauseSchedule, a.Limits.BodyTime},
		{turn("resume-schedule", "resume", "Resume a schedule", "Runs that came due during the pause follow the missed policy, once."), a.resumeSchedule, a.Limits.BodyTime},
		{made.refusesBody(http.StatusNotFound, http.StatusConflict), a.triggerSchedule, a.Limits.BodyTime},
		{describe(schemas, tag, "backfill-schedule", http.MethodPost, path+"/backfill", "Make runs for a range of the past", "One run for each instant of the present rule, marked as made up late. The ledger stays as it is. Count with dry_run first.").
			with(scheduleName(), tenantParam()).takes(schemaOf[backfillAskDoc](schemas), true).
			answers(http.StatusOK, "What was made.", schemaOf[backfillDoc](schemas)).refusesBody(http.StatusNotFound, http.StatusConflict), a.backfillSchedule, a.Limits.BodyTime},
	}
	return append(routes, []route{
		{describe(schemas, tag, "list-occurrences", http.MethodGet, path+"/occurrences", "Look into a schedule's ledger", "Newest first: what became of each due instant.").
			with(scheduleName(), tenantParam(), query("from", "Instants at this time or later.", timeSchema()),
				query("outcome", "With this outcome.", wordSchema("fired", "caught_up", "covered", "skipped"))).with(page...).
			answers(http.StatusOK, "A page.", schemaOf[occurrencePageDoc](schemas)).refuses(http.StatusNotFound, http.StatusUnprocessableEntity), a.occurrences, 0},
		{describe(schemas, tag, "next-occurrences", http.MethodGet, path+"/next", "When is a schedule due next?", "As preview shows it.").
			with(scheduleName(), tenantParam(), query("count", "How many.", wholeSchema(1, maxPreview, 10))).
			answers(http.StatusOK, "The next instants.", preview).refuses(http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity), a.nextOccurrences, 0},
		{describe(schemas, tag, "preview-schedule", http.MethodPost, "/v1/schedules/preview", "When would a rule be due?", "Nothing is kept.").
			takes(schemaOf[previewAskDoc](schemas), true).answers(http.StatusOK, "What the rule comes to.", preview).refusesBody(), a.previewSchedule, a.Limits.BodyTime},
		{describe(schemas, tag, "list-alerts", http.MethodGet, "/v1/alerts", "List alerts", "Newest first: what an operator should know.").
			with(tenantFilter("Alerts"), query("kind", "Of this kind.", textSchema(100)), query("open", "Only those that are not cleared.", &huma.Schema{Type: huma.TypeBoolean})).with(page...).
			answers(http.StatusOK, "A page.", schemaOf[alertPageDoc](schemas)).refuses(http.StatusUnprocessableEntity), a.listAlerts, 0},
	}...)
}

// tagged notes that an operation's answers carry an ETag.
func tagged(o operation) operation {
	for status, response := range o.Responses {
		if status < "3" {
			response.Headers = map[string]*huma.Param{"ETag": {Description: "The version, for If-Match.", Schema: &huma.Schema{Type: huma.TypeString, Pattern: etagPattern}}}
		}
	}
	return o
}

func scheduleName() *huma.Param {
	least := 1
	most := core.MaxScheduleNameBytes
	return &huma.Param{Name: "name", In: "path", Required: true, Description: "The schedule's name. What a path cannot hold is percent-encoded.", Example: "nightly",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most, Pattern: linePattern}}
}

func tenantParam() *huma.Param {
	return query("tenant", "The tenant; left out, the token's own, or none.", textSchema(core.MaxTenantBytes))
}

func matchSchema() *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: tagsPattern, Examples: []any{`"3"`}}
}

func precondition(name, text string, schema *huma.Schema) *huma.Param {
	return &huma.Param{Name: name, In: "header", Description: text, Schema: schema}
}

func pageParamsOf(what string, cursor int) []*huma.Param {
	return []*huma.Param{query("limit", what+" on a page.", wholeSchema(1, maxPage, defaultPage)), query("cursor", "The next_cursor of the page before.", textSchema(cursor))}
}
