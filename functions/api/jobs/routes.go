package jobs

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/openapi"
)

// Routes are the calls about jobs.
func (a *Calls) Routes(schemas huma.Registry) []call.Route {
	const tag = "Jobs"
	job, page := openapi.SchemaOf[openapi.JobDoc](schemas), openapi.SchemaOf[openapi.PageDoc](schemas)
	item := &huma.Schema{AnyOf: []*huma.Schema{job, openapi.SchemaOf[openapi.BatchErrorDoc](schemas)}}
	items := &huma.Schema{Type: huma.TypeObject, Required: []string{"items"}, AdditionalProperties: false, Properties: map[string]*huma.Schema{"items": openapi.ListSchema(item)}}
	created := openapi.Describe(schemas, tag, "submit-job", http.MethodPost, "/v1/jobs", "Submit a job",
		"Once this is answered the job is on disk and will run.").
		Takes(openapi.SchemaOf[openapi.NewJobDoc](schemas), true).Answers(http.StatusCreated, "The new job.", job).Answers(http.StatusOK, "The live job that holds the dedupe key.", job)
	created.Responses["201"].Headers = map[string]*huma.Param{"Location": {Description: "Path of the job, below the prefix that X-Forwarded-Prefix names.", Schema: &huma.Schema{Type: huma.TypeString}}}
	return []call.Route{
		{Op: keyed(created).RefusesBody(), Handle: a.submit, Extra: a.Limits.BodyTime},
		{Op: keyed(openapi.Describe(schemas, tag, "submit-batch", http.MethodPost, "/v1/jobs/batch", "Submit up to 10,000 jobs",
			"Item i of the answer is for job i: the job, or what is wrong with it. Those that are right are written in one transaction.").
			Takes(openapi.SchemaOf[openapi.BatchDoc](schemas), true).Answers(http.StatusOK, "One item per job, in order.", items)).RefusesBody(), Handle: a.submitBatch, Extra: a.Limits.BodyTime},
		{Op: openapi.Describe(schemas, tag, "list-jobs", http.MethodGet, "/v1/jobs", "List jobs", "Newest first. A page ends early when its jobs come to 4 MiB.").
			With(jobFilters()...).Answers(http.StatusOK, "A page.", page).Refuses(http.StatusUnprocessableEntity), Handle: a.list, Extra: 0},
		{Op: openapi.Describe(schemas, tag, "get-job", http.MethodGet, "/v1/jobs/{id}", "Look at a job", "With wait it answers once the job has ended, or when the time is over, with the job as it then stands.").
			With(openapi.JobID(), openapi.Query("wait", "Up to 60s.", openapi.DurationSchema())).Answers(http.StatusOK, "The job.", job).
			Refuses(http.StatusNotFound, http.StatusUnprocessableEntity), Handle: a.get, Extra: a.Limits.Wait},
		{Op: openapi.Describe(schemas, tag, "cancel-job", http.MethodPost, "/v1/jobs/{id}/cancel", "Cancel a job", "A job that waits is cancelled and never starts. One that runs is told to stop: its worker hears of it with its next heartbeat.").
			With(openapi.JobID()).Takes(openapi.SchemaOf[openapi.EmptyDoc](schemas), false).Answers(http.StatusOK, "Cancelled.", job).Answers(http.StatusAccepted, "It runs; cancel is wanted.", job).
			RefusesBody(http.StatusNotFound, http.StatusConflict), Handle: a.cancel, Extra: a.Limits.BodyTime},
		{Op: openapi.Describe(schemas, tag, "retry-job", http.MethodPost, "/v1/jobs/{id}/retry", "Retry a failed job", "It is scheduled now, its attempts counted from 0.").
			With(openapi.JobID()).Takes(openapi.SchemaOf[openapi.EmptyDoc](schemas), false).Answers(http.StatusOK, "Scheduled again.", job).
			RefusesBody(http.StatusNotFound, http.StatusConflict), Handle: a.retry, Extra: a.Limits.BodyTime},
		{Op: openapi.Describe(schemas, tag, "reschedule-job", http.MethodPost, "/v1/jobs/{id}/reschedule", "Give a waiting job another time", "Exactly one of run_at and delay.").
			With(openapi.JobID()).Takes(openapi.SchemaOf[openapi.WhenDoc](schemas), true).Answers(http.StatusOK, "Rescheduled.", job).
			RefusesBody(http.StatusNotFound, http.StatusConflict), Handle: a.reschedule, Extra: a.Limits.BodyTime},
	}
}

func jobFilters() []*huma.Param {
	return append([]*huma.Param{
		openapi.Query("status", "Jobs in one of these states. May stand more than once.", openapi.ManySchema(openapi.StatusWords, openapi.WordSchema("scheduled", "queued", "running", "done", "failed", "cancelled"))),
		openapi.Query("type", "Jobs of this type.", openapi.TextSchema(200)),
		openapi.TenantFilter("Jobs"),
		openapi.Query("priority", "Jobs of this priority.", openapi.WordSchema("critical", "default", "bulk")),
		openapi.Query("tag", "Jobs with this tag.", openapi.TextSchema(64)),
		openapi.Query("schedule", "Jobs that the schedule of this name made.", openapi.TextSchema(schedule.MaxScheduleNameBytes)),
		openapi.Query("run_after", "run_at at this time or later.", openapi.TimeSchema()),
		openapi.Query("run_before", "run_at before this time.", openapi.TimeSchema()),
	}, call.PageParams()...)
}
