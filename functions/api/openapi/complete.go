package openapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/functions/api/problem"
)

// Complete adds to an operation what follows from its kind, so that no operation can leave it out: the
// problems that every request of its kind may meet, the headers that come with them, and examples.
func Complete(op *huma.Operation, schemas huma.Registry) {
	o := Operation{op, schemas}
	if op.Method != http.MethodGet {
		o.Problem(http.StatusForbidden) // from a page of another origin
	}
	if op.RequestBody != nil {
		for _, status := range bodyProblems {
			o.Problem(status)
		}
	}
	if strings.HasPrefix(op.Path, "/v1/") {
		o.Problem(http.StatusUnprocessableEntity) // a parameter that it does not know
	}
	for _, p := range op.Parameters {
		p.Example = paramExample(p, schemas)
	}
	if op.RequestBody != nil {
		fillExamples(op.RequestBody.Content, schemas)
	}
	for status, response := range op.Responses {
		code, _ := strconv.Atoi(status)
		if code >= 400 {
			refine(op, code, response)
		} else {
			fillExamples(response.Content, schemas)
		}
	}
}

// bodyProblems are those that any operation with a body may answer with.
var bodyProblems = []int{
	http.StatusBadRequest, http.StatusForbidden, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
	http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
}

// Problem adds an answer that is a problem document, unless the operation has told of that status itself.
func (o Operation) Problem(status int) {
	key := strconv.Itoa(status)
	if o.Responses[key] == nil {
		o.Responses[key] = &huma.Response{
			Description: http.StatusText(status),
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: SchemaOf[problem.Problem](o.Schemas)}},
		}
	}
}

// refine gives the answer of a problem its example and its headers.
func refine(op *huma.Operation, status int, response *huma.Response) {
	for _, media := range response.Content {
		if media.Example == nil && len(media.Examples) == 0 {
			media.Example = asJSON(problemExample(op, status))
		}
	}
	headers := map[string]*huma.Param{}
	switch status {
	case http.StatusUnauthorized:
		headers["WWW-Authenticate"] = Header("How to say who calls.", huma.TypeString)
	case http.StatusUnsupportedMediaType:
		headers["Accept"] = Header("The media type that is read.", huma.TypeString)
		headers["Accept-Encoding"] = Header("The encoding that is read.", huma.TypeString)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		headers["Retry-After"] = Header("Seconds after which trying again makes sense.", huma.TypeInteger)
	default:
		return
	}
	if response.Headers == nil {
		response.Headers = headers
	}
}

// Header describes a header of an answer.
func Header(text, kind string) *huma.Param {
	return &huma.Param{Description: text, Schema: &huma.Schema{Type: kind}}
}

// fillExamples gives bodies that have no example one.
func fillExamples(content map[string]*huma.MediaType, schemas huma.Registry) {
	for kind, media := range content {
		if kind == "application/json" && media.Schema != nil && media.Example == nil && len(media.Examples) == 0 {
			media.Example = exampleOf(schemas, media.Schema)
		}
	}
}

// paramExample is a value for a parameter that can be chosen freely. One that names what must be there already
// gets one too if it is part of the path: there no call goes without.
func paramExample(p *huma.Param, schemas huma.Registry) any {
	switch {
	case p.Example != nil:
		return p.Example
	case p.In == "path" || hasExample(schemas, p.Schema):
		return exampleOf(schemas, p.Schema)
	}
	return nil
}

// asJSON is v as the document shows it.
func asJSON(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // only what is made of strings and numbers comes here
	}
	return json.RawMessage(text)
}
