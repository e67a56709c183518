package postgres

import "context"

// MigrateTo brings a database to an older version.
func MigrateTo(ctx context.Context, dsn string, version int) error {
	list, err := migrations()
	if err != nil {
		return err
	}
	return Migrator{}.upTo(ctx, dsn, list[:version])
}

// ComparedSequences is the text that names the sequences that are compared with rows.
const ComparedSequences = sequencesBehind

// Statements are all texts that a store may send, by name.
func Statements() (map[string]string, error) {
	all, err := loadStatements()
	for name := range all {
		if all[name], err = all.withRights(name); err != nil {
			return nil, err
		}
	}
	return all, err
}
