package postgres

import (
	"maps"
	"strconv"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// The tables a list reads, as bits.
const (
	listLive = 1 << iota
	listDead
	listHistory
)

// listBranches are the tables of a list by their bits, each with the same columns.
var listBranches = []struct {
	bit  int
	text string
}{
	{listLive, "SELECT " + recordColumns + ", " + liveColumns + ", NULL::text AS error_group FROM belfry.jobs"},
	{listDead, "SELECT " + recordColumns + ", " + endedColumns + ", error_group FROM belfry.dead_letters"},
	{listHistory, "SELECT " + recordColumns + ", " + endedColumns + ", NULL::text AS error_group FROM belfry.job_history"},
	{listHistory, "SELECT " + recordColumns + ", " + endedColumns + ", NULL::text AS error_group FROM belfry.job_history_overflow"},
}

// way is how rows are found in the order of their ids: by the primary key, or among those that are alike in one column.
type way string

const (
	byID     way = "id"
	byTenant way = "tenant" // of a tenant with a name
	byType   way = "type"   // dead letters only, as is byGroup
	byGroup  way = "group"
	byIDs    way = "ids" // the given ones, of dead letters
)

// order is what rows found that way are sorted by. See the migration for (id + 0).
func (w way) order() string {
	if w == byID {
		return "id"
	}
	return "(id + 0)"
}

// listName names the form of list that reads those tables that way.
func listName(tables int, w way) string {
	return "list_" + strconv.Itoa(tables) + "_" + string(w)
}

// addLists makes a statement of list for each set of tables and way.
func (s statements) addLists() {
	rows := map[way]string{
		byID:     "id < $3::bigint",
		byTenant: "tenant = $6 AND tenant <> '' AND (id + 0) < $3::bigint",
		byType:   "type = $5 AND (id + 0) < $3::bigint",
		byGroup:  "error_group = $11 AND (id + 0) < $3::bigint",
	}
	for tables := listLive; tables <= listLive|listDead|listHistory; tables++ {
		var branches []string
		for _, b := range listBranches {
			if tables&b.bit != 0 {
				branches = append(branches, b.text)
			}
		}
		for w, condition := range rows {
			if tables != listDead && (w == byType || w == byGroup) {
				continue
			}
			for _, suffix := range []string{"", unreadSuffix} {
				s[listName(tables, w)+suffix] = strings.NewReplacer("{list_tables}", strings.Join(branches, " UNION ALL "),
					"{list_rows}", condition, "{list_order}", w.order()).Replace(s["list"+suffix])
			}
		}
	}
	delete(s, "list")
	delete(s, "list"+unreadSuffix)
}

// deadWays are the ways to dead letters, and the condition of each on the parameters of dead letters: $3 type, $4 tenant,
// $5 ids, $7 error group.
var deadWays = map[way]string{
	byID:     "true",
	byIDs:    "id = ANY ($5::bigint[])",
	byGroup:  "error_group = $7",
	byTenant: "tenant = $4 AND tenant <> ''",
	byType:   "type = $3",
}

// addDeadWays makes of each statement on dead letters one for each way to them. $8 is the id above which they are.
func (s statements) addDeadWays() {
	// Columns are wrapped, so that no index but the way's fits.
	const rest = `($3::text = '' OR (type || '') = $3) AND ($4::text IS NULL OR (tenant || '') = $4) AND ($5::bigint[] = '{}' OR (id + 0) = ANY ($5))
      AND  ($6::timestamptz IS NULL OR finished_at + interval '0' < $6) AND ($7::text = '' OR (error_group || '') = $7)`
	for name, text := range maps.Clone(s) {
		if !strings.Contains(text, "{dead_order}") {
			continue
		}
		for w, condition := range deadWays {
			lead := condition + " AND " + w.order() + " > $8::bigint"
			s[name+"_"+string(w)] = strings.NewReplacer("{dead_rows}", lead+" AND "+rest, "{dead_lead}", lead, "{dead_rest}", rest,
				"{dead_order}", w.order()).Replace(text)
		}
		delete(s, name)
	}
}

// deadWay is the way that meets the fewest rows in vain.
func deadWay(q core.DeadQuery) way {
	switch {
	case len(q.IDs) > 0:
		return byIDs
	case q.Group != "":
		return byGroup
	case q.Tenant != nil && *q.Tenant != "":
		return byTenant
	case q.Type != "":
		return byType
	}
	return byID
}
