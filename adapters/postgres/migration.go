package postgres

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is one change of the schema, forward only: a file of migrations/.
type migration struct {
	version int
	name    string
	// oldest is the program that still works once this was applied, by the newest migration that it knows.
	oldest int
	steps  []step
}

// step is a part of a migration that is applied as a whole. A migration of several steps may be cut off between them
// and begin again at the first, so each of its steps may be repeated.
type step struct {
	sql string
	// concurrently marks a statement that runs outside a transaction, so as to keep nobody waiting.
	concurrently bool
}

// firstCompatible is the last migration from before migrations said which programs they leave working.
const firstCompatible = 8

// What a migration says of itself, in comments that stand alone on their lines.
const (
	markOldest       = "-- belfry:oldest "
	markStep         = "-- belfry:step"
	markConcurrently = "-- belfry:step concurrently"
)

// migrations are the embedded files in order. Their numbers are 1, 2, 3, … without a gap.
var migrations = sync.OnceValues(readMigrations)

func readMigrations() ([]migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var list []migration
	for _, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		m, err := parseMigration(strings.TrimSuffix(strings.TrimPrefix(name, "migrations/"), ".sql"), string(text))
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b migration) int { return cmp.Compare(a.version, b.version) })
	for i, m := range list {
		if m.version != i+1 {
			return nil, fmt.Errorf("migration %d is missing or double", i+1)
		}
	}
	return list, nil
}

// parseMigration reads one file.
func parseMigration(name, text string) (migration, error) {
	number, _, _ := strings.Cut(name, "_")
	version, err := strconv.Atoi(number)
	if err != nil {
		return migration{}, fmt.Errorf("migration %s has no number", name)
	}
	m := migration{version: version, name: name, oldest: version}
	if version > firstCompatible {
		m.oldest = 0 // until the file says it
	}
	var current step
	finish := func() {
		if !blank(current.sql) {
			m.steps = append(m.steps, current)
		}
	}
	for line := range strings.Lines(text) {
		mark := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(mark, markOldest):
			if m.oldest, err = strconv.Atoi(strings.TrimPrefix(mark, markOldest)); err != nil || m.oldest >= version {
				return migration{}, fmt.Errorf("migration %s: %q wants a number below its own", name, mark)
			}
		case mark == markStep, mark == markConcurrently:
			finish()
			current = step{concurrently: mark == markConcurrently}
		default:
			current.sql += line
		}
	}
	finish()
	if m.oldest == 0 {
		return migration{}, fmt.Errorf("migration %s does not say which program still works after it: want %q and a number", name, markOldest)
	}
	return m, nil
}

// blank reports whether a text has nothing but comments.
func blank(sql string) bool {
	for line := range strings.Lines(sql) {
		if line, _, _ = strings.Cut(line, "--"); strings.TrimSpace(line) != "" {
			return false
		}
	}
	return true
}

// builtIndex finds the index that a step builds concurrently.
var builtIndex = regexp.MustCompile(`CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS (\w+)`)

// index is the name of the index that the step builds concurrently, in the schema belfry; "" for none.
func (s step) index() string {
	if found := builtIndex.FindStringSubmatch(s.sql); s.concurrently && found != nil {
		return found[1]
	}
	return ""
}
