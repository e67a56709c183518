package postgres

import (
	"regexp"
	"slices"
)

// made finds the relations that a migration makes.
var made = regexp.MustCompile(`(?i)CREATE (?:UNLOGGED )?(?:TABLE|VIEW|MATERIALIZED VIEW)(?: IF NOT EXISTS)? belfry\.([a-z_0-9]+)`)

// relations are the names of Belfry's own relations, also of those that a later migration has dropped.
func relations() ([]string, error) {
	names := []string{"schema_versions", "migrations"} // see migrate_record.go
	all, err := migrations()
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		for _, s := range m.steps {
			for _, found := range made.FindAllStringSubmatch(s.sql, -1) {
				names = append(names, found[1])
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
