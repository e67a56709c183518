package sqlite

import (
	"maps"
	"strings"
)

// way is how rows are found in the order of their ids: by the primary key, or among those that are alike in one column.
type way string

const (
	byID     way = "id"
	byTenant way = "tenant" // of a tenant with a name
	byType   way = "type"   // dead letters only, as is byGroup
	byGroup  way = "group"
	byIDs    way = "ids" // the given ones, of dead letters
)

// listRows are the rows a list looks at, by the ways to them. The columns are put in for *.
var listRows = map[way]string{
	byID: `SELECT * FROM jobs WHERE ?1 & 14 <> 0 AND id < ?8
UNION ALL SELECT * FROM job_history WHERE ?1 & 80 <> 0 AND id < ?8
UNION ALL SELECT * FROM dead_letters WHERE ?1 & 32 <> 0 AND id < ?8
ORDER BY 1 DESC LIMIT ?10`,
	byTenant: `SELECT * FROM jobs INDEXED BY jobs_tenant WHERE ?1 & 14 <> 0 AND tenant = ?3 AND tenant <> '' AND id < ?8
UNION ALL SELECT * FROM job_history INDEXED BY job_history_tenant WHERE ?1 & 80 <> 0 AND tenant = ?3 AND tenant <> '' AND id < ?8
UNION ALL SELECT * FROM dead_letters INDEXED BY dead_letters_tenant WHERE ?1 & 32 <> 0 AND tenant = ?3 AND tenant <> '' AND id < ?8
ORDER BY 1 DESC LIMIT ?10`,
	byType: `SELECT * FROM dead_letters INDEXED BY dead_letters_type WHERE type = ?2 AND id < ?8 ORDER BY id DESC LIMIT ?10`,
	byGroup: `SELECT d.* FROM dead_letter_groups g INDEXED BY dead_letter_groups_group CROSS JOIN dead_letters d ON d.id = g.id
WHERE g.error_group = ?11 AND g.id < ?8 ORDER BY g.id DESC LIMIT ?10`,
}

// listMatches is what a row j must be to be on a list. By a group rows are found, and not looked at again.
const listMatches = `(?1 >> j.status) & 1 AND (?2 = '' OR j.type = ?2) AND (?3 IS NULL OR j.tenant = ?3)
	AND (?4 = 0 OR j.priority = ?4) AND j.run_at >= ?6 AND (?7 IS NULL OR j.run_at < ?7)
	AND (?5 = '' OR EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(j.tags) THEN j.tags ELSE '[]' END) WHERE value = ?5))
	AND (?12 IS NULL OR j.finished_at < ?12) AND (?13 = '' OR j.schedule = ?13)`

// deadRows are the dead letters d that a statement on them goes through, by the ways to them, and what they are sorted by.
var deadRows = map[way][2]string{
	byID:     {"dead_letters d WHERE true", "d.id"},
	byIDs:    {"dead_letters d WHERE d.id IN (SELECT value FROM json_each(?3))", "d.id"},
	byTenant: {"dead_letters d INDEXED BY dead_letters_tenant WHERE d.tenant = ?2 AND d.tenant <> ''", "d.id"},
	byType:   {"dead_letters d INDEXED BY dead_letters_type WHERE d.type = ?1", "d.id"},
	byGroup: {"dead_letter_groups g INDEXED BY dead_letter_groups_group CROSS JOIN dead_letters d ON d.id = g.id WHERE g.error_group = ?5",
		"g.id"},
}

// deadMatches is what a dead letter d must be.
const deadMatches = `(?4 IS NULL OR d.finished_at < ?4) AND (?1 = '' OR d.type = ?1) AND (?2 IS NULL OR d.tenant = ?2)
	AND (?3 IS NULL OR d.id IN (SELECT value FROM json_each(?3)))
	AND (?5 = '' OR EXISTS (SELECT 1 FROM dead_letter_groups x WHERE x.id = d.id AND x.error_group = ?5))`

// addLists puts the shared parts into the statements that list, and makes one of each for each way.
func addLists(texts map[string]string) {
	for name, text := range maps.Clone(texts) {
		switch {
		case strings.Contains(text, "{rows}"), strings.Contains(text, "{ids}"):
			for w, rows := range listRows {
				ids := strings.NewReplacer("SELECT *", "SELECT id", "SELECT d.*", "SELECT d.id").Replace(rows)
				texts[name+"_"+string(w)] = strings.NewReplacer("{rows}", rows, "{ids}", ids, "{matches}", listMatches).Replace(text)
			}
			delete(texts, name)
		case strings.Contains(text, "{dead}"):
			matches := deadMatches
			if name == "dead_groups" {
				matches = strings.ReplaceAll(matches, "d.", "s.") // what was found is looked at once more
			}
			for w, rows := range deadRows {
				texts[name+"_"+string(w)] = strings.NewReplacer("{dead}", rows[0], "{id}", rows[1], "{matches}", matches).Replace(text)
			}
			delete(texts, name)
		default:
			texts[name] = strings.ReplaceAll(text, "{matches}", listMatches)
		}
	}
}
