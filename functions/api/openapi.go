package api

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/core"
)

// intro is what the document says of the API as a whole.
const intro = "Submit jobs and Belfry runs each once its time has come, at least once. Times are RFC 3339, UTC on the way out; " +
	"durations are Go strings such as \"90s\"; ids are strings. Unknown fields are refused by name. Every error is an RFC 9457 " +
	"problem document. Payloads come back byte for byte. Lists go from the newest to the oldest: pass next_cursor as cursor, with " +
	"the same filters, until it is empty."

// document is the OpenAPI document before any operation.
func (a *API) document() *huma.OpenAPI {
	namer := func(t reflect.Type, hint string) string {
		return strings.TrimSuffix(huma.DefaultSchemaNamer(t, hint), "Doc")
	}
	components := &huma.Components{Schemas: huma.NewMapRegistry("#/components/schemas/", namer)}
	components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer",
		Description: "A token of `belfry tokens create` or of POST /v1/tokens. Its role is admin, submit or read, and it may be for one tenant: what belongs to another is then not there."}}
	return &huma.OpenAPI{
		OpenAPI:    "3.1.0",
		Info:       &huma.Info{Title: "Belfry", Version: a.Version, Description: intro, License: &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}},
		Servers:    []*huma.Server{{URL: "/"}},
		Tags:       []*huma.Tag{{Name: "Jobs"}, {Name: "Types"}, {Name: "Schedules"}, {Name: "Dead letters"}, {Name: "Tokens"}, {Name: "Operation"}},
		Components: components,
	}
}

// operation begins an operation's entry in the document.
type operation struct {
	*huma.Operation
	schemas huma.Registry
}

func describe(schemas huma.Registry, tag, id, method, path, summary, description string) operation {
	return operation{&huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary, Description: description, Tags: []string{tag},
		Responses: map[string]*huma.Response{},
	}, schemas}
}

// schemaOf is the schema of T's JSON form.
func schemaOf[T any](schemas huma.Registry) *huma.Schema {
	return schemas.Schema(reflect.TypeFor[T](), true, "")
}

// takes adds the body.
func (o operation) takes(schema *huma.Schema, required bool) operation {
	o.RequestBody = &huma.RequestBody{Required: required, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
	return o
}

// answers adds an answer of JSON.
func (o operation) answers(status int, text string, schema *huma.Schema) operation {
	o.Responses[strconv.Itoa(status)] = &huma.Response{Description: text, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
	return o
}

// refuses adds the problems an operation may answer with, beside those any request may meet.
func (o operation) refuses(statuses ...int) *huma.Operation {
	for _, status := range append(statuses, http.StatusInternalServerError, http.StatusServiceUnavailable) {
		o.problem(status)
	}
	return o.Operation
}

// refusesBody adds the problems of an operation that reads a body.
func (o operation) refusesBody(statuses ...int) *huma.Operation {
	return o.refuses(append(statuses, bodyProblems...)...)
}

// with adds parameters.
func (o operation) with(params ...*huma.Param) operation {
	o.Parameters = append(o.Parameters, params...)
	return o
}

// query is a parameter of the query.
func query(name, text string, schema *huma.Schema) *huma.Param {
	return &huma.Param{Name: name, In: "query", Description: text, Schema: schema}
}

// jobID is the id of the job in the path.
func jobID() *huma.Param {
	return &huma.Param{Name: "id", In: "path", Required: true, Description: "The job's id.", Schema: idText("").Schema(nil)}
}

// textSchema is a text that is not empty.
func textSchema(limit int) *huma.Schema {
	least := 1
	return &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &limit, Pattern: linePattern}
}

// tenantFilter is the parameter tenant of a list: the one that may be empty.
func tenantFilter(what string) *huma.Param {
	schema := textSchema(core.MaxTenantBytes)
	schema.MinLength = nil
	p := query("tenant", what+" of this tenant. Empty: those without a tenant.", schema)
	p.AllowEmptyValue = true
	return p
}

func timeSchema() *huma.Schema { return &huma.Schema{Type: huma.TypeString, Format: "date-time"} }

func durationSchema() *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: durationPattern, Examples: []any{"30s"}}
}

func wholeSchema(low, high float64, absent int) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Minimum: &low, Maximum: &high, Default: absent}
}

func wordSchema(words ...any) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Enum: words} }

// statusWords is how often a status may stand in a query: each once, and once more.
const statusWords = 16

// manySchema is a parameter that may stand up to limit times.
func manySchema(limit int, of *huma.Schema) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: of, MaxItems: &limit}
}

func listSchema(of *huma.Schema) *huma.Schema { return &huma.Schema{Type: huma.TypeArray, Items: of} }
