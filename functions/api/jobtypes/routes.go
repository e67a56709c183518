package jobtypes

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/openapi"
)

// typePattern is the form of type names.
const typePattern = `^[A-Za-z][A-Za-z0-9_:-]*([./][A-Za-z0-9_:-]+)*$`

// newTypeDoc is the document of a new definition.
type newTypeDoc struct {
	Target       *openapi.TargetDoc     `json:"target,omitempty" doc:"Deliver the type's jobs there. Left out, workers with a handler for the type do the work."`
	Timeout      openapi.DurationText   `json:"timeout,omitempty" doc:"Of one attempt, for jobs that name none: a duration from 1s to 24h." example:"90s"`
	MaxAttempts  int                    `json:"max_attempts,omitempty" minimum:"1" maximum:"100"`
	Backoff      []openapi.DurationText `json:"backoff,omitempty" nullable:"false" minItems:"1" maxItems:"20" doc:"Waits between attempts, the last one repeating: durations of up to 720h." example:"[\"30s\",\"2m\"]"`
	ExpiresAfter openapi.DurationText   `json:"expires_after,omitempty" doc:"Jobs that name no expires_at are cancelled when they have not started so long after their run_at: a duration from 1s to 9600h (400 days). Left out, they never expire." example:"2h"`
	ExpectWithin openapi.DurationText   `json:"expect_within,omitempty" doc:"Dead man's switch: an alert is raised when no job of the type was done for so long, a duration from 1s to 9600h (400 days)." example:"25h"`
}

// typeDoc is the document of a stored definition.
type typeDoc struct {
	Type         string                 `json:"type" example:"invoice.send"`
	Target       *openapi.TargetDoc     `json:"target,omitempty"`
	Timeout      openapi.DurationText   `json:"timeout,omitempty" example:"1m30s"`
	MaxAttempts  int                    `json:"max_attempts,omitempty"`
	Backoff      []openapi.DurationText `json:"backoff,omitempty" nullable:"false"`
	ExpiresAfter openapi.DurationText   `json:"expires_after,omitempty"`
	ExpectWithin openapi.DurationText   `json:"expect_within,omitempty"`
	CreatedAt    string                 `json:"created_at" format:"date-time"`
	UpdatedAt    string                 `json:"updated_at" format:"date-time"`
}

// typePageDoc is one page of definitions.
type typePageDoc struct {
	Items      []typeDoc `json:"items" nullable:"false"`
	NextCursor string    `json:"next_cursor" doc:"Pass it as cursor for the next page; empty on the last one."`
}

// Routes are the calls about the definitions of types.
func (a *Calls) Routes(schemas huma.Registry) []call.Route {
	if a.Types == nil {
		return nil
	}
	const tag, path = "Types", "/v1/types/{type}"
	one := openapi.SchemaOf[typeDoc](schemas)
	gone := openapi.Describe(schemas, tag, "delete-type", http.MethodDelete, path, "Delete a type's definition",
		"Its jobs stay. Those that wait for a target it named wait until there is one again, or a handler.").With(typeParam())
	gone.Responses["204"] = &huma.Response{Description: "Deleted."}
	return []call.Route{
		{Op: openapi.Describe(schemas, tag, "list-types", http.MethodGet, "/v1/types", "List definitions of types", "By name.").
			With(openapi.Query("limit", "Definitions on a page.", openapi.WholeSchema(1, call.MaxPage, call.DefaultPage)), openapi.Query("cursor", "The next_cursor of the page before.", openapi.TextSchema(300))).
			Answers(http.StatusOK, "A page.", openapi.SchemaOf[typePageDoc](schemas)).Refuses(http.StatusUnprocessableEntity), Handle: a.listTypes, Extra: 0},
		{Op: openapi.Describe(schemas, tag, "get-type", http.MethodGet, path, "Look at a type's definition", "").With(typeParam()).
			Answers(http.StatusOK, "The definition.", one).Refuses(http.StatusNotFound, http.StatusUnprocessableEntity), Handle: a.getType, Extra: 0},
		{Op: openapi.Describe(schemas, tag, "put-type", http.MethodPut, path, "Define a type",
			"The defaults of its jobs. An earlier definition is replaced as a whole. The rest holds for jobs submitted from then on, the target also for those that wait.").
			With(typeParam()).Takes(openapi.SchemaOf[newTypeDoc](schemas), true).
			Answers(http.StatusCreated, "The new definition.", one).Answers(http.StatusOK, "The definition, replaced.", one).RefusesBody(), Handle: a.putType, Extra: a.Limits.BodyTime},
		{Op: gone.Refuses(http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity), Handle: a.deleteType, Extra: 0},
	}
}

// typeParam is the path parameter for the type.
func typeParam() *huma.Param {
	least, most := 1, 200
	return &huma.Param{
		Name: "type", In: "path", Required: true, Description: "The type. A slash in it is written %2F.", Example: "invoice.send",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most, Pattern: typePattern},
	}
}
