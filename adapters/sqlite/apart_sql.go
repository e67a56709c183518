package sqlite

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// idsSuffix names the form of a statement that reads no more of its rows than their ids and types, and what orders them.
const idsSuffix = "_ids"

var soundMark = regexp.MustCompile(`\{(sound|schedule|alert) (\?\d+)\}`)

// apartOver is how long after retry_at a row still counts as set apart, by its act; see core.ApartOver. apartAgain is the same for one
// that has just been met again: its job is there.
var (
	apartOver  = apartOverIf(" AND EXISTS (SELECT 1 FROM jobs j WHERE j.id = row_id)", " AND EXISTS (SELECT 1 FROM jobs j WHERE j.id = row_id AND j.status = 2)", "act")
	apartAgain = apartOverIf("", "", "excluded.act")
)

func apartOverIf(lives, queued, act string) string {
	return fmt.Sprintf("CASE WHEN %[1]s = '%[2]s' THEN %[3]d WHEN %[1]s = '%[4]s'%[5]s OR %[1]s IN ('%[6]s', '%[7]s')%[8]s THEN %[9]d ELSE %[10]d END",
		act, core.ActDrop, core.ApartOverDrop.Microseconds(), core.ActFinish, lives, core.ActStart, core.ActGiveBack, queued,
		core.ApartOverJob.Microseconds(), core.ApartOver.Microseconds())
}

// nextRowID is the next id of a table whose ids are never given twice. Numbers that are never given do not count: AUTOINCREMENT
// would go on from them.
const nextRowID = `(SELECT MAX(COALESCE((SELECT MAX(seq) FROM sqlite_sequence WHERE name = '$1' AND seq < 4611686018427387904), 0),
	COALESCE((SELECT MAX(id) FROM $1 WHERE id < 4611686018427387904), 0)) + 1)`

var nextIDMark = regexp.MustCompile(`\{next_id ([a-z]+)\}`)

// addApart puts in that rows which are set apart are passed over, and makes the short forms.
func addApart(texts map[string]string) {
	over := strings.NewReplacer("{apart_over}", apartOver, "{apart_again}", apartAgain)
	for name, text := range maps.Clone(texts) {
		text = over.Replace(text)
		text = nextIDMark.ReplaceAllString(text, nextRowID)
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
				texts[name+idsSuffix] = "SELECT 0" + m[2] // these rows have no number
			}
		}
		texts[name] = text
	}
}

// keptRows finds the rows that a statement drops.
var keptRows = regexp.MustCompile(`(?s)IN \(\s*SELECT ([a-z_, ]+?)( FROM .*)\)`)
