package api

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
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
		"shape": shapeOf, "required": slices.Contains[[]string], "lower": strings.ToLower,
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
	err = page.Execute(&out, map[string]any{"Info": doc.Info, "Sections": sections, "Schemas": doc.Components.Schemas.Map()})
	return out.Bytes(), err
}

// shape is a schema in a few words, with the name of the component it points to.
type shape struct{ Text, Link string }

func shapeOf(s *huma.Schema) shape {
	switch {
	case s == nil:
		return shape{}
	case s.Ref != "":
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		return shape{name, name}
	case len(s.AnyOf) > 0:
		var words []string
		for _, of := range s.AnyOf {
			words = append(words, shapeOf(of).Text)
		}
		return shape{Text: strings.Join(words, " or ")}
	case s.Type == huma.TypeArray:
		of := shapeOf(s.Items)
		return shape{"list of " + of.Text, of.Link}
	case len(s.Enum) > 0:
		var words []string
		for _, word := range s.Enum {
			words = append(words, fmt.Sprint(word))
		}
		return shape{Text: strings.Join(words, ", ")}
	case s.Type == "":
		return shape{Text: "any JSON"}
	case s.Format != "":
		return shape{Text: s.Format}
	}
	if items := s.Properties["items"]; items != nil {
		of := shapeOf(items)
		return shape{"object with items: " + of.Text, of.Link}
	}
	return shape{Text: s.Type}
}
