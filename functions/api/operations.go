package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/core"
)

// jobRoutes are the calls about jobs.
func (a *API) jobRoutes(schemas huma.Registry) []route {
	const tag = "Jobs"
	job, page := schemaOf[jobDoc](schemas), schemaOf[pageDoc](schemas)
	item := &huma.Schema{AnyOf: []*huma.Schema{job, schemaOf[batchErrorDoc](schemas)}}
	items := &huma.Schema{Type: huma.TypeObject, Required: []string{"items"}, AdditionalProperties: false, Properties: map[string]*huma.Schema{"items": listSchema(item)}}
	created := describe(schemas, tag, "submit-job", http.MethodPost, "/v1/jobs", "Submit a job",
		"Once this is answered the job is on disk and will run.").
		takes(schemaOf[newJobDoc](schemas), true).answers(http.StatusCreated, "The new job.", job).answers(http.StatusOK, "The live job that holds the dedupe key.", job)
	created.Responses["201"].Headers = map[string]*huma.Param{"Location": {Description: "Path of the job, below the prefix that X-Forwarded-Prefix names.", Schema: &huma.Schema{Type: huma.TypeString}}}
	return []route{
		{keyed(created).refusesBody(), a.submit, a.Limits.BodyTime},
		{keyed(describe(schemas, tag, "submit-batch", http.MethodPost, "/v1/jobs/batch", "Submit up to 10,000 jobs",
			"Item i of the answer is for job i: the job, or what is wrong with it. Those that are right are written in one transaction.").
			takes(schemaOf[batchDoc](schemas), true).answers(http.StatusOK, "One item per job, in order.", items)).refusesBody(), a.submitBatch, a.Limits.BodyTime},
		{describe(schemas, tag, "list-jobs", http.MethodGet, "/v1/jobs", "List jobs", "Newest first. A page ends early when its jobs come to 4 MiB.").
			with(jobFilters()...).answers(http.StatusOK, "A page.", page).refuses(http.StatusUnprocessableEntity), a.list, 0},
		{describe(schemas, tag, "get-job", http.MethodGet, "/v1/jobs/{id}", "Look at a job", "With wait it answers once the job has ended, or when the time is over, with the job as it then stands.").
			with(jobID(), query("wait", "Up to 60s.", durationSchema())).answers(http.StatusOK, "The job.", job).
			refuses(http.StatusNotFound, http.StatusUnprocessableEntity), a.get, a.Limits.Wait},
		{describe(schemas, tag, "cancel-job", http.MethodPost, "/v1/jobs/{id}/cancel", "Cancel a job", "A job that waits is cancelled and never starts. One that runs is told to stop: its worker hears of it with its next heartbeat.").
			with(jobID()).takes(schemaOf[emptyDoc](schemas), false).answers(http.StatusOK, "Cancelled.", job).answers(http.StatusAccepted, "It runs; cancel is wanted.", job).
			refusesBody(http.StatusNotFound, http.StatusConflict), a.cancel, a.Limits.BodyTime},
		{describe(schemas, tag, "retry-job", http.MethodPost, "/v1/jobs/{id}/retry", "Retry a failed job", "It is scheduled now, its attempts counted from 0.").
			with(jobID()).takes(schemaOf[emptyDoc](schemas), false).answers(http.StatusOK, "Scheduled again.", job).
			refusesBody(http.StatusNotFound, http.StatusConflict), a.retry, a.Limits.BodyTime},
		{describe(schemas, tag, "reschedule-job", http.MethodPost, "/v1/jobs/{id}/reschedule", "Give a waiting job another time", "Exactly one of run_at and delay.").
			with(jobID()).takes(schemaOf[whenDoc](schemas), true).answers(http.StatusOK, "Rescheduled.", job).
			refusesBody(http.StatusNotFound, http.StatusConflict), a.reschedule, a.Limits.BodyTime},
	}
}

func jobFilters() []*huma.Param {
	return append([]*huma.Param{
		query("status", "Jobs in one of these states. May stand more than once.", manySchema(statusWords, wordSchema("scheduled", "queued", "running", "done", "failed", "cancelled"))),
		query("type", "Jobs of this type.", textSchema(200)),
		tenantFilter("Jobs"),
		query("priority", "Jobs of this priority.", wordSchema("critical", "default", "bulk")),
		query("tag", "Jobs with this tag.", textSchema(64)),
		query("schedule", "Jobs that the schedule of this name made.", textSchema(core.MaxScheduleNameBytes)),
		query("run_after", "run_at at this time or later.", timeSchema()),
		query("run_before", "run_at before this time.", timeSchema()),
	}, pageParams()...)
}

func pageParams() []*huma.Param {
	return []*huma.Param{
		query("limit", "Jobs on a page.", wholeSchema(1, maxPage, defaultPage)),
		query("cursor", "The next_cursor of the page before.", textSchema(100)),
	}
}

// statsRoutes are the calls about the whole.
func (a *API) statsRoutes(schemas huma.Registry) []route {
	const tag = "Operation"
	health := schemaOf[healthDoc](schemas)
	metrics := describe(schemas, tag, "metrics", http.MethodGet, "/metrics", "Metrics for Prometheus", "Right from any process: the store counts.")
	metrics.Responses["200"] = &huma.Response{Description: "Text format.", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}}}
	return []route{
		{describe(schemas, tag, "stats", http.MethodGet, "/v1/stats", "Queue and job counts", "At most a second old.").
			answers(http.StatusOK, "The numbers.", schemaOf[Stats](schemas)).refuses(http.StatusUnprocessableEntity), a.showStats, 0},
		{metrics.refuses(), a.metrics, 0},
		{describe(schemas, tag, "healthz", http.MethodGet, "/healthz", "Is the process alive?", "It answers; nothing else is looked at.").answers(http.StatusOK, "Yes.", health).refuses(), a.healthz, 0},
		{describe(schemas, tag, "readyz", http.MethodGet, "/readyz", "Can it accept jobs?", "The store is reachable, writable and of a known schema version.").
			answers(http.StatusOK, "Yes.", health).refuses(), a.readyz, 0},
	}
}
