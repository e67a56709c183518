package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// What the page shows of an operation and of a schema.

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

// boundsOf are a schema's bounds in a few words.
func boundsOf(s *huma.Schema) string {
	var words []string
	say := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		say("%s to %s", number(*s.Minimum), number(*s.Maximum))
	case s.MinLength != nil && *s.MinLength > 0 && s.MaxLength != nil:
		say("%d to %d characters", *s.MinLength, *s.MaxLength)
	case s.MaxLength != nil:
		say("at most %d characters", *s.MaxLength)
	case s.MinItems != nil && *s.MinItems > 0 && s.MaxItems != nil:
		say("%d to %d of them", *s.MinItems, *s.MaxItems)
	case s.MaxItems != nil:
		say("at most %d of them", *s.MaxItems)
	}
	if s.Default != nil {
		say("default %v", s.Default)
	}
	return strings.Join(words, "; ")
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// curl is a call of the operation to paste: with the values of the examples.
func curl(op *huma.Operation) string {
	path, header := op.Path, ""
	for _, p := range op.Parameters {
		if p.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", fmt.Sprint(p.Example))
		}
	}
	text := "curl -s"
	if op.Method != http.MethodGet && (op.Method != http.MethodPost || op.RequestBody == nil || !op.RequestBody.Required) {
		text += " -X " + op.Method
	}
	if len(op.Security) > 0 {
		header = ` -H "Authorization: Bearer $BELFRY_TOKEN"`
	}
	text += ` "$BELFRY_URL` + path + `"` + header
	if op.RequestBody == nil || !op.RequestBody.Required {
		return text
	}
	for kind, media := range op.RequestBody.Content {
		body := strings.ReplaceAll(pretty(media.Example), "'", `'\''`)
		text += " \\\n  -H 'Content-Type: " + kind + "' \\\n  -d '" + body + "'"
	}
	return text
}

// pretty is an example over several lines, "" where there is none.
func pretty(example any) string {
	if example == nil {
		return ""
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(example); err != nil {
		return ""
	}
	return strings.TrimSpace(text.String())
}

// good are an operation's answers that are no problem, by status.
func good(op *huma.Operation) map[string]*huma.Response { return answersOf(op, true) }

// problems are the others.
func problems(op *huma.Operation) map[string]*huma.Response { return answersOf(op, false) }

func answersOf(op *huma.Operation, good bool) map[string]*huma.Response {
	some := map[string]*huma.Response{}
	for status, response := range op.Responses {
		if good == (status < "4") {
			some[status] = response
		}
	}
	return some
}
