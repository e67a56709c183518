package openapi

import (
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/core"
)

// Intro is what the document says of the API as a whole.
const Intro = "Submit jobs and Belfry runs each once its time has come, at least once. Times are RFC 3339, UTC on the way out; " +
	"durations are Go strings such as \"90s\"; ids are strings. Unknown fields are refused by name. Every error is an RFC 9457 " +
	"problem document. Payloads come back byte for byte. Lists go from the newest to the oldest: pass next_cursor as cursor, with " +
	"the same filters, until it is empty."

// Operation begins an operation's entry in the document.
type Operation struct {
	*huma.Operation
	Schemas huma.Registry
}

func Describe(schemas huma.Registry, tag, id, method, path, summary, description string) Operation {
	return Operation{&huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary, Description: description, Tags: []string{tag},
		Responses: map[string]*huma.Response{},
	}, schemas}
}

// SchemaOf is the schema of T's JSON form.
func SchemaOf[T any](schemas huma.Registry) *huma.Schema {
	return schemas.Schema(reflect.TypeFor[T](), true, "")
}

// Takes adds the body.
func (o Operation) Takes(schema *huma.Schema, required bool) Operation {
	o.RequestBody = &huma.RequestBody{Required: required, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
	return o
}

// Answers adds an answer of JSON.
func (o Operation) Answers(status int, text string, schema *huma.Schema) Operation {
	o.Responses[strconv.Itoa(status)] = &huma.Response{Description: text, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
	return o
}

// Refuses adds the problems an operation may answer with, beside those any request may meet.
func (o Operation) Refuses(statuses ...int) *huma.Operation {
	for _, status := range append(statuses, http.StatusInternalServerError, http.StatusServiceUnavailable) {
		o.Problem(status)
	}
	return o.Operation
}

// RefusesBody adds the problems of an operation that reads a body.
func (o Operation) RefusesBody(statuses ...int) *huma.Operation {
	return o.Refuses(append(statuses, bodyProblems...)...)
}

// With adds parameters.
func (o Operation) With(params ...*huma.Param) Operation {
	o.Parameters = append(o.Parameters, params...)
	return o
}

// Query is a parameter of the query.
func Query(name, text string, schema *huma.Schema) *huma.Param {
	return &huma.Param{Name: name, In: "query", Description: text, Schema: schema}
}

// JobID is the id of the job in the path.
func JobID() *huma.Param {
	return &huma.Param{Name: "id", In: "path", Required: true, Description: "The job's id.", Schema: IDText("").Schema(nil)}
}

// TextSchema is a text that is not empty.
func TextSchema(limit int) *huma.Schema {
	least := 1
	return &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &limit, Pattern: LinePattern}
}

// TenantFilter is the parameter tenant of a list: the one that may be empty.
func TenantFilter(what string) *huma.Param {
	schema := TextSchema(core.MaxTenantBytes)
	schema.MinLength = nil
	p := Query("tenant", what+" of this tenant. Empty: those without a tenant.", schema)
	p.AllowEmptyValue = true
	return p
}

func TimeSchema() *huma.Schema { return &huma.Schema{Type: huma.TypeString, Format: "date-time"} }

func DurationSchema() *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: durationPattern, Examples: []any{"30s"}}
}

func WholeSchema(low, high float64, absent int) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Minimum: &low, Maximum: &high, Default: absent}
}

func WordSchema(words ...any) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Enum: words} }

// StatusWords is how often a status may stand in a query: each once, and once more.
const StatusWords = 16

// ManySchema is a parameter that may stand up to limit times.
func ManySchema(limit int, of *huma.Schema) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: of, MaxItems: &limit}
}

func ListSchema(of *huma.Schema) *huma.Schema { return &huma.Schema{Type: huma.TypeArray, Items: of} }
