package api

import "github.com/danielgtaylor/huma/v2"

// Types of texts in the schemas: what a field of one of them looks like is said once.

// idPattern is what an id looks like.
const idPattern = "^[1-9][0-9]{0,18}$"

// idText is the id of a job.
type idText string

// Schema describes it.
func (idText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: idPattern, Examples: []any{"17"}}
}

// durationText is a Go duration.
type durationText string

// Schema describes it. Its bounds differ from field to field and stand in their descriptions.
func (durationText) Schema(huma.Registry) *huma.Schema { return durationSchema() }

// linePattern is text without control characters and separators of lines: what core.CheckText accepts. The
// last two characters of the class are U+2028 and U+2029.
const linePattern = "^[^\\x00-\\x1f\\x7f-\\x9f\u2028\u2029]*$"

// lineText is a text of any language that can be shown on one line.
type lineText string

// Schema describes it.
func (lineText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: linePattern}
}
