package api

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/openapi"
)

//go:embed docs.html docs.css
var docsFiles embed.FS

// written is the document and the pages made from it.
type written struct{ spec, page, style []byte }

// write makes the document: schemas of all that is read and answered, by reflection, and every operation with its
// examples. That is many times the work of all else that a start does, and few processes are ever asked for it.
func (a *API) write() (*written, error) {
	doc, operations := a.describeAll()
	spec, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	page, err := docsPage(doc, operations)
	if err != nil {
		return nil, err
	}
	style, err := docsFiles.ReadFile("docs.css")
	return &written{spec, page, style}, err
}

// describeAll is the document with all operations, and these in their order.
func (a *API) describeAll() (*huma.OpenAPI, []*huma.Operation) {
	doc := a.document()
	schemas := doc.Components.Schemas
	var operations []*huma.Operation
	for _, route := range a.routes(schemas) {
		operations = append(operations, route.Op)
		a.asks(route.Op, schemas)
		openapi.Complete(route.Op, schemas)
		doc.AddOperation(route.Op)
	}
	openapi.Link(operations)
	open(operations, schemas)
	return doc, operations
}

// serverAtRoot says in the document that there is nothing before its paths.
const serverAtRoot = `"servers":[{"url":"/"}]`

// pages are /openapi.json and what is made from it. The first reader waits until they are written; they do not change.
func (a *API) pages() []call.Route {
	once := sync.OnceValues(a.write)
	page := func(path, contentType string, part func(*written) []byte) call.Route {
		return call.Route{Op: &huma.Operation{Method: http.MethodGet, Path: path, Hidden: true}, Handle: func(w http.ResponseWriter, r *http.Request) error {
			all, err := once()
			if err != nil {
				return err
			}
			h := w.Header()
			h.Set("Cache-Control", "no-cache")
			h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
			h.Set("Vary", call.PrefixHeader)
			answer.Body(w, http.StatusOK, contentType, bytes.Replace(part(all), []byte(serverAtRoot), []byte(`"servers":[{"url":"`+call.PrefixOf(r)+`/"}]`), 1))
			return nil
		}}
	}
	return []call.Route{
		page("/openapi.json", "application/json", func(all *written) []byte { return all.spec }),
		page("/docs", "text/html; charset=utf-8", func(all *written) []byte { return all.page }),
		page("/docs/docs.css", "text/css; charset=utf-8", func(all *written) []byte { return all.style }),
	}
}

// docsSection is the operations of one tag.
type docsSection struct {
	Name       string
	Operations []*huma.Operation
}

// docsPage writes the document for people to read.
func docsPage(doc *huma.OpenAPI, operations []*huma.Operation) ([]byte, error) {
	page, err := template.New("docs.html").Funcs(template.FuncMap{
		"shape": shapeOf, "bounds": boundsOf, "required": slices.Contains[[]string], "lower": strings.ToLower,
		"curl": curl, "pretty": pretty, "good": good, "problems": problems,
	}).ParseFS(docsFiles, "docs.html")
	if err != nil {
		return nil, err
	}
	var sections []docsSection
	for _, tag := range doc.Tags {
		section := docsSection{Name: tag.Name}
		for _, op := range operations {
			if slices.Contains(op.Tags, tag.Name) {
				section.Operations = append(section.Operations, op)
			}
		}
		sections = append(sections, section)
	}
	var out bytes.Buffer
	err = page.Execute(&out, map[string]any{
		"Info": doc.Info, "Sections": sections, "Schemas": doc.Components.Schemas.Map(), "Schemes": doc.Components.SecuritySchemes,
	})
	return out.Bytes(), err
}

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
		Info:       &huma.Info{Title: "Belfry", Version: a.Version, Description: openapi.Intro, License: &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}},
		Servers:    []*huma.Server{{URL: "/"}},
		Tags:       []*huma.Tag{{Name: "Jobs"}, {Name: "Types"}, {Name: "Schedules"}, {Name: "Dead letters"}, {Name: "Tokens"}, {Name: "Operation"}},
		Components: components,
	}
}
