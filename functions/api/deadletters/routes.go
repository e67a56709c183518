package deadletters

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/openapi"
)

// Routes are the calls about dead letters.
func (a *Calls) Routes(schemas huma.Registry) []call.Route {
	const tag, path = "Dead letters", "/v1/dead-letters"
	filters := []*huma.Param{
		openapi.Query("type", "Dead letters of this type.", openapi.TextSchema(200)),
		openapi.TenantFilter("Dead letters"),
		openapi.Query("error_group", "Those that failed alike; see groups.", &huma.Schema{Type: huma.TypeString, Pattern: groupPattern}),
		openapi.Query("failed_before", "Those that failed before this time.", openapi.TimeSchema()),
	}
	with := func(more ...*huma.Param) []*huma.Param { return append(append([]*huma.Param{}, filters...), more...) }
	flag := &huma.Schema{Type: huma.TypeBoolean}
	return []call.Route{
		{Op: openapi.Describe(schemas, tag, "list-dead-letters", http.MethodGet, path, "List jobs that failed for good", "Newest first.").
			With(with(call.PageParams()...)...).Answers(http.StatusOK, "A page.", openapi.SchemaOf[openapi.PageDoc](schemas)).
			Refuses(http.StatusUnprocessableEntity), Handle: a.listDead, Extra: 0},
		{Op: openapi.Describe(schemas, tag, "list-dead-letter-groups", http.MethodGet, path+"/groups", "Count dead letters by what went wrong",
			"Dead letters of one type whose last errors differ in numbers, ids, addresses and quoted parts only are one group. The largest "+
				"group comes first. Counted are those that match among the newest 100,000, or the newest of the type, tenant or group asked for.").
			With(with(openapi.Query("limit", "At most this many groups.", openapi.WholeSchema(1, maxGroups, defaultGroups)))...).
			Answers(http.StatusOK, "The groups.", openapi.SchemaOf[deadGroupsDoc](schemas)).Refuses(http.StatusUnprocessableEntity), Handle: a.deadGroups, Extra: 0},
		{Op: openapi.Describe(schemas, tag, "redrive-dead-letters", http.MethodPost, path+"/redrive", "Retry those that match",
			"The lowest id first. One whose dedupe key another live job holds is left and reported. For more than limit, call again with after "+
																								"and from as this answer has them in after and next_run_at, until remaining is 0.").
			Takes(openapi.SchemaOf[redriveDoc](schemas), true).Answers(http.StatusOK, "What became of them.", openapi.SchemaOf[redrivenDoc](schemas)).RefusesBody(), Handle: a.redrive, Extra: a.Limits.BodyTime},
		{Op: openapi.Describe(schemas, tag, "discard-dead-letters", http.MethodDelete, path, "Delete those that match", "The lowest id first. They are gone for good. For more than limit, call again with after as this answer has it, until remaining is 0 or nothing was done.").
			With(with(openapi.Query("id", "These dead letters. May stand more than once.", openapi.ManySchema(call.MaxPage, openapi.JobID().Schema)),
																						openapi.Query("limit", "At most this many.", openapi.WholeSchema(1, DeadLimit, defaultDeadLimit)),
																						openapi.Query("after", "Ids above this: the after of an earlier answer.", openapi.JobID().Schema),
																						openapi.Query("all", "Required to be true where nothing else says which are meant.", flag),
																						openapi.Query("dry_run", "Only count them.", flag))...).
			Answers(http.StatusOK, "How many.", openapi.SchemaOf[discardedDoc](schemas)).Refuses(http.StatusForbidden, http.StatusUnprocessableEntity), Handle: a.discard, Extra: 0},
	}
}

// redriveDoc selects dead letters and says how they are put back.
type redriveDoc struct {
	Type         string           `json:"type,omitempty" minLength:"1" maxLength:"200"`
	Tenant       openapi.LineText `json:"tenant,omitempty" maxLength:"255"`
	IDs          []openapi.IDText `json:"ids,omitempty" nullable:"false" minItems:"1" maxItems:"1000"`
	ErrorGroup   string           `json:"error_group,omitempty" pattern:"^[0-9a-f]{16}$" doc:"Those that failed alike." example:"3b1f9c0a52d7e846"`
	FailedBefore string           `json:"failed_before,omitempty" format:"date-time"`
	After        openapi.IDText   `json:"after,omitempty" doc:"Ids above this: the after of an earlier answer."`
	Limit        int              `json:"limit,omitempty" minimum:"1" maximum:"10000" doc:"Left out, it is 1000. The lowest ids come first; call again for more."`
	Rate         float64          `json:"rate,omitempty" minimum:"0.001" maximum:"1000000" doc:"Jobs per second: each is due that much after the one before. Left out, all are due at once." example:"50"`
	From         string           `json:"from,omitempty" format:"date-time" doc:"When the first is due: the next_run_at of an earlier answer. Left out, or past, it is now."`
	All          bool             `json:"all,omitempty" doc:"Required to be true where nothing else says which are meant."`
	DryRun       bool             `json:"dry_run,omitempty" doc:"Only count them."`
}

// TransformSchema shows a call that says which are meant.
func (redriveDoc) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"type": "mail.send", "limit": 1000}}
	return s
}

// redrivenDoc says what became of them.
type redrivenDoc struct {
	Redriven  int            `json:"redriven" doc:"Dead letters that are jobs again."`
	Conflicts []conflictDoc  `json:"conflicts" nullable:"false" doc:"Those that were left, and why."`
	Remaining int            `json:"remaining" doc:"How many match that this call and those before it have not been through."`
	Capped    bool           `json:"capped" doc:"remaining stopped at 100,000: there are that many or more."`
	DryRun    bool           `json:"dry_run,omitempty" doc:"Nothing was done."`
	After     openapi.IDText `json:"after,omitempty" doc:"The highest id the calls have been through."`
	NextRunAt string         `json:"next_run_at,omitempty" format:"date-time" doc:"With a rate: when the next one would be due."`
}

type conflictDoc struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	JobID  string `json:"job_id,omitempty" doc:"The live job that holds the dedupe key."`
}

// discardedDoc says how many are gone.
type discardedDoc struct {
	Discarded int              `json:"discarded"`
	Left      []openapi.IDText `json:"left" nullable:"false" doc:"Those that raise an error when they are deleted: they stay, and belfry doctor names them. A call leaves 16 at most and ends early then."`
	Remaining int              `json:"remaining" doc:"How many match that this call and those before it have not been through."`
	Capped    bool             `json:"capped" doc:"remaining stopped at 100,000: there are that many or more."`
	DryRun    bool             `json:"dry_run,omitempty" doc:"Nothing was done."`
	After     openapi.IDText   `json:"after,omitempty" doc:"The highest id the calls have been through."`
}

// deadGroupsDoc is dead letters by what went wrong.
type deadGroupsDoc struct {
	Items  []deadGroupDoc `json:"items" nullable:"false"`
	Capped bool           `json:"capped" doc:"100,000 were counted: there may be more."`
}

type deadGroupDoc struct {
	Count       int    `json:"count"`
	Type        string `json:"type"`
	ErrorGroup  string `json:"error_group" pattern:"^[0-9a-f]{16}$" doc:"What to give as error_group. It stays the same." example:"3b1f9c0a52d7e846"`
	Error       string `json:"error" doc:"The last error of the newest one." example:"dial tcp 10.0.0.7:25: connection refused"`
	FirstFailed string `json:"first_failed_at" format:"date-time"`
	LastFailed  string `json:"last_failed_at" format:"date-time"`
}
