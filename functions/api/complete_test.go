package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pb33f/jsonschema/v6"

	"github.com/belfry-dev/belfry/functions/api"
)

// The parts of an OpenAPI document that these tests look at.
type (
	openDoc struct {
		Paths      map[string]map[string]*openOperation
		Components struct{ Schemas map[string]*openSchema }
	}
	openOperation struct {
		OperationID string `json:"operationId"`
		Summary     string
		Description string
		Tags        []string
		Parameters  []*openParam
		RequestBody *struct {
			Content map[string]openMedia
		} `json:"requestBody"`
		Responses map[string]*openResponse
		Security  []map[string][]string
	}
	openParam struct {
		Name, In, Description string
		Required              bool
		AllowEmptyValue       bool `json:"allowEmptyValue"`
		Schema                *openSchema
		Example               any
	}
	openResponse struct {
		Description string
		Headers     map[string]any
		Content     map[string]openMedia
		Links       map[string]struct {
			OperationID string `json:"operationId"`
			Parameters  map[string]string
		}
	}
	openMedia struct {
		Schema  *openSchema
		Example json.RawMessage
	}
	openSchema struct {
		Ref                  string `json:"$ref"`
		Type, Format         any
		Default              any
		Pattern              string
		Enum                 []any
		MinLength            *int `json:"minLength"`
		MaxLength            *int `json:"maxLength"`
		MaxItems             *int `json:"maxItems"`
		MinItems             *int `json:"minItems"`
		Minimum, Maximum     *float64
		Required             []string
		Properties           map[string]*openSchema
		AdditionalProperties any `json:"additionalProperties"`
		Items                *openSchema
		AnyOf                []*openSchema `json:"anyOf"`
	}
)

// documentOf is the document as it is served.
func documentOf(t testing.TB, b *bench) *openDoc {
	t.Helper()
	doc := decode[openDoc](t, b.do("GET", "/openapi.json", "", "Authorization", "Bearer "+aToken).want(t, http.StatusOK))
	return &doc
}

const aToken = "a-token-of-these-tests-0123456789"

func withToken(o *api.Options) { o.Tokens = []string{aToken} }

// each calls f for every operation, in the order of the paths.
func (d *openDoc) each(f func(method, path string, op *openOperation)) {
	var paths []string
	for path := range d.Paths {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		for method, op := range d.Paths[path] {
			f(strings.ToUpper(method), path, op)
		}
	}
}

func (d *openDoc) find(s *openSchema) *openSchema {
	if s != nil && s.Ref != "" {
		return d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	return s
}

// Every operation, whoever adds it, says all that its users must know.
func TestDocumentIsComplete(t *testing.T) {
	doc := documentOf(t, newBench(t, withToken))
	count := 0
	doc.each(func(method, path string, op *openOperation) {
		count++
		fault := func(format string, args ...any) {
			t.Helper()
			t.Errorf("%s %s: "+format, append([]any{method, path}, args...)...)
		}
		if op.OperationID == "" || op.Summary == "" || op.Description == "" || len(op.Tags) != 1 {
			fault("has no operationId, summary, description or tag: %q %q %q %q", op.OperationID, op.Summary, op.Description, op.Tags)
		}
		wanted := []int{500, 503}
		if strings.HasPrefix(path, "/v1/") {
			wanted = append(wanted, 422)
			byLease := strings.HasSuffix(path, "/heartbeat") || strings.HasSuffix(path, "/complete") || strings.HasSuffix(path, "/fail")
			if byLease != (len(op.Security) == 0) {
				fault("asks for %v; the right to it is a lease token: %t", op.Security, byLease)
			}
			if !byLease {
				wanted = append(wanted, 401)
			}
		}
		if method != "GET" {
			wanted = append(wanted, 403)
		}
		if op.RequestBody != nil {
			wanted = append(wanted, 400, 408, 413, 415)
		}
		if strings.Contains(path, "{") && method != "PUT" {
			wanted = append(wanted, 404)
		}
		for _, status := range wanted {
			if op.Responses[strconv.Itoa(status)] == nil {
				fault("says nothing of %d", status)
			}
		}
		checkParams(doc, path, op, fault)
		checkResponses(doc, op, fault)
		if op.RequestBody != nil {
			checkBody(doc, op.RequestBody.Content, fault)
		}
	})
	if count < 14 {
		t.Errorf("%d operations", count)
	}
}

// checkParams holds parameters against what a caller must know of each.
func checkParams(doc *openDoc, path string, op *openOperation, fault func(string, ...any)) {
	for _, p := range op.Parameters {
		if p.Description == "" {
			fault("parameter %s has no description", p.Name)
		}
		if p.In == "path" && (!p.Required || !strings.Contains(path, "{"+p.Name+"}") || p.Example == nil) {
			fault("parameter %s of the path: required %t, example %v", p.Name, p.Required, p.Example)
		}
		checkBounds(doc, p.Schema, "parameter "+p.Name, fault)
	}
	for rest := path; strings.Contains(rest, "{"); {
		var name string
		_, rest, _ = strings.Cut(rest, "{")
		name, rest, _ = strings.Cut(rest, "}")
		if !slices.ContainsFunc(op.Parameters, func(p *openParam) bool { return p.In == "path" && p.Name == name }) {
			fault("does not describe {%s}", name)
		}
	}
}

// checkResponses holds the answers: problems are problem documents, everything has an example.
func checkResponses(doc *openDoc, op *openOperation, fault func(string, ...any)) {
	good := 0
	for status, r := range op.Responses {
		if r.Description == "" {
			fault("%s has no description", status)
		}
		kind := "application/problem+json"
		if status < "4" {
			good++
			kind = "application/json"
		} else if m := r.Content[kind]; len(r.Content) != 1 || m.Schema == nil || m.Schema.Ref != "#/components/schemas/Problem" {
			fault("%s is no problem document: %v", status, r.Content)
		}
		if m, ok := r.Content[kind]; ok && len(m.Example) == 0 {
			fault("%s has no example", status)
		}
		for name, l := range r.Links {
			found := false
			doc.each(func(_, _ string, op *openOperation) { found = found || op.OperationID == l.OperationID })
			if !found {
				fault("%s links %s to %s, which is no operation", status, name, l.OperationID)
			}
		}
	}
	if good == 0 {
		fault("has no answer but problems")
	}
}

// checkBody holds a body against what a writer must know: closed objects, bounds, an example.
func checkBody(doc *openDoc, content map[string]openMedia, fault func(string, ...any)) {
	m, ok := content["application/json"]
	if !ok || len(content) != 1 || len(m.Example) == 0 {
		fault("its body is no JSON with an example: %v", content)
		return
	}
	walk(doc, m.Schema, "body", map[string]bool{}, func(s *openSchema, at string) {
		if s.Type == "object" && s.AdditionalProperties == nil {
			fault("%s takes any field", at)
		}
		if s.Default != nil {
			fault("%s has a default: generators of clients then take it for required", at)
		}
		checkBounds(doc, s, at, fault)
	})
}

// walk calls f for a schema and all in it.
func walk(doc *openDoc, s *openSchema, at string, seen map[string]bool, f func(s *openSchema, at string)) {
	if s == nil || s.Ref != "" && seen[s.Ref] {
		return
	}
	seen[s.Ref] = s.Ref != ""
	if s = doc.find(s); s == nil {
		return
	}
	f(s, at)
	for name, of := range s.Properties {
		walk(doc, of, at+"."+name, seen, f)
	}
	walk(doc, s.Items, at+"[]", seen, f)
	for _, of := range s.AnyOf {
		walk(doc, of, at, seen, f)
	}
}

// checkBounds holds a schema of what is sent: texts and lists end somewhere, numbers have two ends.
func checkBounds(doc *openDoc, s *openSchema, at string, fault func(string, ...any)) {
	if s = doc.find(s); s == nil {
		fault("%s has no schema", at)
		return
	}
	switch s.Type {
	case "string":
		if s.MaxLength == nil && len(s.Enum) == 0 && s.Format == nil && s.Pattern == "" {
			fault("%s is text without a bound", at)
		}
	case "integer", "number":
		if s.Minimum == nil || s.Maximum == nil {
			fault("%s is a number without bounds", at)
		}
	case "array":
		if s.MaxItems == nil {
			fault("%s is a list without a bound", at)
		}
		checkBounds(doc, s.Items, at+"[]", fault)
	}
}

// Examples are what their schemas accept.
func TestExamplesHoldTheirSchemas(t *testing.T) {
	b := newBench(t, withToken)
	check := exampleChecker(t, b)
	documentOf(t, b).each(func(method, path string, op *openOperation) {
		at := []string{"paths", path, strings.ToLower(method)}
		if op.RequestBody != nil {
			const kind = "application/json"
			check(pointer(append(at, "requestBody", "content", kind, "schema")...), op.RequestBody.Content[kind].Example)
		}
		for status, r := range op.Responses {
			for kind, m := range r.Content {
				if strings.HasSuffix(kind, "json") {
					check(pointer(append(at, "responses", status, "content", kind, "schema")...), m.Example)
				}
			}
		}
		for i, p := range op.Parameters {
			if p.Example != nil {
				text, _ := json.Marshal(p.Example)
				check(pointer(append(at, "parameters", strconv.Itoa(i), "schema")...), text)
			}
		}
	})
}

// exampleChecker compiles the schemas of the served document where they stand in it.
func exampleChecker(t testing.TB, b *bench) func(pointer string, example json.RawMessage) {
	t.Helper()
	whole, err := jsonschema.UnmarshalJSON(strings.NewReader(b.do("GET", "/openapi.json", "").body))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("openapi.json", whole); err != nil {
		t.Fatal(err)
	}
	return func(pointer string, example json.RawMessage) {
		t.Helper()
		schema, err := compiler.Compile("openapi.json#" + pointer)
		if err != nil {
			t.Errorf("%s: %v", pointer, err)
			return
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(example))
		if err == nil {
			err = schema.Validate(value)
		}
		if err != nil {
			t.Errorf("%s: the example %s: %v", pointer, example, err)
		}
	}
}

// pointer is a JSON pointer to a place in the document.
func pointer(steps ...string) string {
	var p strings.Builder
	for _, step := range steps {
		p.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(step))
	}
	return p.String()
}

// What is sent has no fields but those described; answers may get more in a later version.
func TestAnswersMayGrow(t *testing.T) {
	doc := documentOf(t, newBench(t, withToken))
	for name, open := range map[string]bool{"Job": true, "Page": true, "Problem": true, "FieldProblem": true, "Stats": true, "NewJob": false, "Target": false, "Batch": false} {
		if s := doc.Components.Schemas[name]; s == nil || (s.AdditionalProperties == nil) != open {
			t.Errorf("%s: additionalProperties %v", name, s.AdditionalProperties)
		}
	}
}
