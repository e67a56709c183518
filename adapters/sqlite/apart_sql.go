package sqlite

import (
	"maps"
	"regexp"
	"strings"
)

// idsSuffix names the form of a statement that reads no more of its rows than their ids and types, and what orders them.
const idsSuffix = "_ids"

var soundMark = regexp.MustCompile(`\{(sound|schedule|alert) (\?\d+)\}`)

// addApart puts in that rows which are set apart are passed over, and makes the short forms.
func addApart(texts map[string]string) {
	for name, text := range maps.Clone(texts) {
		text = soundMark.ReplaceAllStringFunc(text, func(mark string) string {
			parts := soundMark.FindStringSubmatch(mark)
			kind := map[string]string{"sound": "job", "schedule": "schedule", "alert": "alert"}[parts[1]]
			return "id NOT IN (SELECT row_id FROM set_apart WHERE kind = '" + kind + "' AND retry_at > " + parts[2] + ")"
		})
		if strings.Contains(text, "{columns}") {
			texts[name+idsSuffix] = strings.ReplaceAll(text, "{columns}", "id, type, run_at")
			text = strings.ReplaceAll(text, "{columns}", "*")
		}
		if m := keptRows.FindStringSubmatch(text); m != nil && strings.HasPrefix(name, "drop_") {
			texts[name+idsSuffix] = "SELECT " + map[string]string{"id": "id", "rowid": "rowid"}[m[1]] + m[2]
			if m[1] != "id" && m[1] != "rowid" {
				texts[name+idsSuffix] = "SELECT 0" + m[2] // of what has no number
			}
		}
		texts[name] = text
	}
}

// keptRows finds the rows that a statement drops.
var keptRows = regexp.MustCompile(`(?s)IN \(\s*SELECT ([a-z_, ]+?)( FROM .*)\)`)
