package leases

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/core/report"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/openapi"
)

// extendedDoc answers a heartbeat.
type extendedDoc struct {
	ID           string `json:"id" pattern:"^[1-9][0-9]{0,18}$" example:"17"`
	LeaseUntil   string `json:"lease_until" format:"date-time" doc:"Without another heartbeat the attempt counts as lost after this."`
	CancelWanted bool   `json:"cancel_wanted" doc:"Stop, and call fail: the job will be cancelled. A complete still makes it done."`
}

// endedDoc answers complete and fail.
type endedDoc struct {
	ID     string `json:"id" pattern:"^[1-9][0-9]{0,18}$" example:"17"`
	Status string `json:"status" enum:"scheduled,queued,running,done,failed,cancelled" doc:"What the job is now; scheduled means that it will be tried again."`
}

// Routes are the calls of targets that have an attempt in hand.
func (a *Calls) Routes(schemas huma.Registry) []call.Route {
	if a.Attempts == nil || a.Leases == nil {
		return nil
	}
	const tag, path = "Jobs", "/v1/jobs/{id}/"
	operation := func(id, act, summary, description string, more map[string]*huma.Schema, required ...string) openapi.Operation {
		o := openapi.Describe(schemas, tag, id, http.MethodPost, path+act, summary, description+
			" The lease token is the belfry-lease-token of the delivery, and the only right the call needs. 409: it is stale.")
		o.Security = []map[string][]string{} // none, unlike the other calls
		return o.With(openapi.JobID()).Takes(leaseSchema(more, required...), true)
	}
	permanent, wait := &huma.Schema{Type: huma.TypeBoolean, Description: "Do not try again."}, openapi.DurationSchema()
	wait.Description = "Try again after this, instead of the back-off; up to 720h. Not beside permanent."
	fail := operation("fail-job", "fail", "End an attempt with an error", "The job is tried again by its back-off, or has failed for good. A repeat gets the first answer.",
		map[string]*huma.Schema{"error": someSchema("What went wrong; 2 KiB of it are kept.", leaseBody), "permanent": permanent, "retry_after": wait}, "error")
	fail.RequestBody.Content["application/json"].Schema.Not = &huma.Schema{
		Required: []string{"permanent", "retry_after"}, Properties: map[string]*huma.Schema{"permanent": {Enum: []any{true}}},
	}
	return []call.Route{
		{Op: operation("heartbeat-job", "heartbeat", "Extend the lease of an attempt", "It then lasts the job's timeout from now.", nil).
			Answers(http.StatusOK, "Extended.", openapi.SchemaOf[extendedDoc](schemas)).
			RefusesBody(http.StatusNotFound, http.StatusConflict), Handle: a.heartbeat, Extra: a.Limits.BodyTime},
		{Op: operation("complete-job", "complete", "End an attempt well", "The job is done. A repeat gets the first answer.",
			map[string]*huma.Schema{"result": {Description: "Any JSON of up to 64 KiB."}}).
			Answers(http.StatusOK, "Done.", openapi.SchemaOf[endedDoc](schemas)).
			RefusesBody(http.StatusNotFound, http.StatusConflict), Handle: a.complete, Extra: a.Limits.BodyTime},
		{Op: fail.Answers(http.StatusOK, "Recorded.", openapi.SchemaOf[endedDoc](schemas)).
			RefusesBody(http.StatusNotFound, http.StatusConflict), Handle: a.fail, Extra: a.Limits.BodyTime},
	}
}

// leaseSchema is a body with a lease token and more.
func leaseSchema(more map[string]*huma.Schema, required ...string) *huma.Schema {
	s := &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: false, Required: append([]string{"lease_token"}, required...),
		Properties: map[string]*huma.Schema{"lease_token": someSchema("The belfry-lease-token of this attempt's delivery.", 200)},
	}
	for name, of := range more {
		s.Properties[name] = of
	}
	s.PrecomputeMessages()
	return s
}

func someSchema(text string, limit int) *huma.Schema {
	least := 1
	return &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &limit, Description: text}
}

// Compile-time check: what the API is given for attempts.
var _ call.Attempts = (*report.Reporter)(nil)
