package openapi

import "github.com/danielgtaylor/huma/v2"

// Types of texts in the schemas: what a field of one of them looks like is said once.

// idPattern is what an id looks like.
const idPattern = "^[1-9][0-9]{0,18}$"

// IDText is the id of a job.
type IDText string

// Schema describes it.
func (IDText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: idPattern, Examples: []any{"17"}}
}

// DurationText is a Go duration.
type DurationText string

// Schema describes it. Its bounds differ from field to field and stand in their descriptions.
func (DurationText) Schema(huma.Registry) *huma.Schema { return DurationSchema() }

// LinePattern is text without control characters and separators of lines: what core.CheckText accepts. The
// last two characters of the class are U+2028 and U+2029.
const LinePattern = "^[^\\x00-\\x1f\\x7f-\\x9f\u2028\u2029]*$"

// LineText is a text of any language that can be shown on one line.
type LineText string

// Schema describes it.
func (LineText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: LinePattern}
}
