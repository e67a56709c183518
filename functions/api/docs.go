package api

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed docs.html docs.css
var docsFiles embed.FS

// docPages are /openapi.json and the pages made from it. They are made once: the document does not change.
func docPages(doc *huma.OpenAPI, operations []*huma.Operation) ([]route, error) {
	spec, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	page, err := docsPage(doc, operations)
	if err != nil {
		return nil, err
	}
	style, err := docsFiles.ReadFile("docs.css")
	if err != nil {
		return nil, err
	}
	return []route{
		fixed("/openapi.json", "application/json", spec),
		fixed("/docs", "text/html; charset=utf-8", page),
		fixed("/docs/docs.css", "text/css; charset=utf-8", style),
	}, nil
}

// fixed serves bytes that never change.
func fixed(path, contentType string, body []byte) route {
	return route{op: &huma.Operation{Method: http.MethodGet, Path: path, Hidden: true}, handle: func(w http.ResponseWriter, _ *http.Request) error {
		h := w.Header()
		h.Set("Cache-Control", "no-cache")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		writeBody(w, http.StatusOK, contentType, body)
		return nil
	}}
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
