package postgres

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// The expressions below are texts that name the rights this role lacks; ” for none. They read the catalogue alone: a role
// that lacks USAGE of the schema may ask too.

// missingToMaintain names the rights to make partitions. Only the owner of a table can make its partitions.
const missingToMaintain = `array_to_string(ARRAY(
           SELECT 'CREATE ON SCHEMA belfry' WHERE NOT has_schema_privilege(to_regnamespace('belfry')::oid, 'CREATE')
           UNION ALL SELECT 'membership of the role that owns belfry.' || c.relname FROM pg_class c
                     WHERE c.relnamespace = to_regnamespace('belfry') AND c.relname IN ('job_history', 'occurrences') AND NOT pg_has_role(c.relowner, 'USAGE')), ', ')`

// missingToWork has the needs of all statements in it, as values.
const missingToWork = `array_to_string(ARRAY(
           SELECT 'USAGE ON SCHEMA belfry' WHERE NOT has_schema_privilege(to_regnamespace('belfry')::oid, 'USAGE')
           UNION ALL
           SELECT string_agg(r.name, ', ' ORDER BY r.place) || ' ON TABLE belfry.' || n.name
           FROM   (VALUES %s) AS n (name, rights) JOIN pg_class c ON c.relname = n.name AND c.relnamespace = to_regnamespace('belfry')
                  CROSS JOIN unnest(n.rights) WITH ORDINALITY AS r (name, place)
           WHERE  NOT has_table_privilege(c.oid, r.name) GROUP BY n.name
           UNION ALL
           SELECT 'USAGE ON SEQUENCE belfry.' || c.relname FROM pg_class c
           WHERE  c.relname = ANY (%s) AND c.relkind = 'S' AND c.relnamespace = to_regnamespace('belfry') AND NOT has_sequence_privilege(c.oid, 'USAGE')
           UNION ALL
           SELECT 'EXECUTE ON FUNCTION belfry.' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' FROM pg_proc p
           WHERE  p.proname = ANY (%s) AND p.pronamespace = to_regnamespace('belfry') AND NOT has_function_privilege(p.oid, 'EXECUTE')), '; ')`

// missingToServe has the needs of the statements on tables of answersCallers in it, as values.
const missingToServe = `array_to_string(ARRAY(
           SELECT string_agg(r.name, ', ' ORDER BY r.place) || ' ON TABLE belfry.' || n.name
           FROM   (VALUES %s) AS n (name, rights) JOIN pg_class c ON c.relname = n.name AND c.relnamespace = to_regnamespace('belfry')
                  CROSS JOIN unnest(n.rights) WITH ORDINALITY AS r (name, place)
           WHERE  NOT has_table_privilege(c.oid, r.name) GROUP BY n.name), '; ')`

// servesNobody says whether the role has no right at all on tables of answersCallers.
const servesNobody = `NOT EXISTS (SELECT FROM pg_class c WHERE c.relname = ANY (%s) AND c.relnamespace = to_regnamespace('belfry')
                AND has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE'))`

// answersCallers are the tables that a program needs only if it answers callers. The roles of workers get no hold of them;
// see roles.Programs.
var answersCallers = []string{"idempotency_keys", "tokens"}

var (
	usedTable      = regexp.MustCompile(`(?i)\b(INSERT INTO|DELETE FROM|UPDATE|FROM|JOIN|USING) belfry\.([a-z_]+)\b\(?`)
	calledFunction = regexp.MustCompile(`\bbelfry\.([a-z_]+)\(`)
	inColumn       = regexp.MustCompile(`(?i)(?:GENERATED ALWAYS AS|DEFAULT) \(?belfry\.([a-z_]+)\(`)
	madeSequence   = regexp.MustCompile(`(?i)CREATE SEQUENCE (?:IF NOT EXISTS )?belfry\.([a-z_]+)`)
	lockedRows     = regexp.MustCompile(`\bFOR (?:NO KEY )?(?:UPDATE|SHARE)\b`)
	elsewhere      = []string{"submit_in_tx"} // run in transactions of callers, by their roles
	mending        = []string{"lease_make"}   // run only where rows were deleted: without the right the rows are named
)

// rightsOf are the rights on tables, and the functions, that statements need. Who locks rows needs to be allowed to update
// them.
func rightsOf(all statements) (tables map[string][]string, functions []string) {
	tables = map[string][]string{}
	for name, text := range all {
		if slices.Contains(elsewhere, name) || slices.Contains(mending, name) {
			continue
		}
		for _, used := range usedTable.FindAllStringSubmatch(text, -1) {
			table := used[2]
			if strings.HasSuffix(used[0], "(") {
				continue
			}
			tables[table] = append(tables[table], "SELECT")
			switch verb := strings.ToUpper(used[1]); {
			case verb == "INSERT INTO":
				tables[table] = append(tables[table], "INSERT")
				if strings.Contains(text, "DO UPDATE") {
					tables[table] = append(tables[table], "UPDATE")
				}
			case verb == "DELETE FROM":
				tables[table] = append(tables[table], "DELETE")
			case verb == "UPDATE", lockedRows.MatchString(text):
				tables[table] = append(tables[table], "UPDATE")
			}
		}
		for _, called := range calledFunction.FindAllStringSubmatch(text, -1) {
			functions = append(functions, called[1])
		}
	}
	for table, rights := range tables {
		tables[table] = slices.DeleteFunc([]string{"SELECT", "INSERT", "UPDATE", "DELETE"}, func(right string) bool { return !slices.Contains(rights, right) })
	}
	slices.Sort(functions)
	return tables, slices.Compact(functions)
}

// missingRights are the expressions that name what a role lacks. To find out what all statements need takes some 30 ms of CPU,
// which few processes have to spend: most never ask.
var missingRights = sync.OnceValues(makeMissingRights)

// withRights is the statement of that name, which names the rights that a role lacks.
func (s statements) withRights(name string) (string, error) {
	parts, err := missingRights()
	return strings.Replace(s[name], "{missing_rights}", parts, 1), err
}

// callRights is call of a statement that names the rights that a role lacks.
func (s statements) callRights(name string, each func(wire.Row) error) (wire.Call, error) {
	text, err := s.withRights(name)
	return wire.Call{SQL: text, Args: wire.NewArgs(0), Each: each}, err
}

// makeMissingRights puts the needs of all statements into the expressions.
func makeMissingRights() (string, error) {
	s, err := allStatements()
	if err != nil {
		return "", err
	}
	tables, functions := rightsOf(s)
	all, err := migrations()
	if err != nil {
		return "", err
	}
	var sequences []string
	for _, m := range all {
		for _, step := range m.steps {
			for _, found := range madeSequence.FindAllStringSubmatch(step.sql, -1) {
				sequences = append(sequences, found[1])
			}
			for _, found := range inColumn.FindAllStringSubmatch(step.sql, -1) {
				functions = append(functions, found[1])
			}
		}
	}
	var work, serve []string
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		value := fmt.Sprintf("('%s', %s)", table, textArray(tables[table]))
		if slices.Contains(answersCallers, table) {
			serve = append(serve, value)
		} else {
			work = append(work, value)
		}
	}
	toWork := fmt.Sprintf(missingToWork, strings.Join(work, ", "), textArray(sequences), textArray(functions))
	toServe := fmt.Sprintf(missingToServe, strings.Join(serve, ", "))
	nobody := fmt.Sprintf(servesNobody, textArray(answersCallers))
	return strings.Join([]string{toWork, toServe, nobody, missingToMaintain}, ",\n       "), nil
}

// textArray is a list of plain words in SQL.
func textArray(words []string) string {
	return "ARRAY['" + strings.Join(words, "', '") + "']"
}

// missing are the rights that a role lacks, by what it may not do without them; "" for none.
type missing struct {
	toWork, toServe, toMaintain string
	servesNobody                bool // it may touch none of the tables that only those who answer callers need
}

func readMissing(r wire.Row) missing {
	return missing{toWork: r.Text(0), toServe: r.Text(1), servesNobody: r.Bool(2), toMaintain: r.Text(3)}
}

// lacks lists what a program may not do, and the rights that it lacks for it.
func (m missing) lacks(serves, maintains bool) (texts []string) {
	if m.servesNobody && !serves {
		m.toServe = ""
	}
	if !maintains {
		m.toMaintain = ""
	}
	if rights := strings.Trim(m.toWork+"; "+m.toServe, "; "); rights != "" {
		texts = append(texts, "read and write all that it works on: it lacks "+rights)
	}
	if m.toMaintain != "" {
		texts = append(texts, "make the tables of the days to come: it lacks "+m.toMaintain)
	}
	return texts
}

// lackOf is the error of a program that lacks rights; nil if it lacks none that it needs.
func (s *Store) lackOf(m missing) error {
	texts := m.lacks(s.serves.Load(), s.maintains.Load())
	if len(texts) == 0 {
		return nil
	}
	return core.Advise(core.ErrRights, "the database role of this process may not "+strings.Join(texts, "; nor "))
}

// explainRights says which rights are missing, where the server refused for one.
func (s *Store) explainRights(ctx context.Context, err error) error {
	if !hasCode(err, codeNotAllowed) {
		return err
	}
	var lack error
	ask, asked := s.sql.callRights("missing_rights", func(r wire.Row) error {
		lack = s.lackOf(readMissing(r))
		return nil
	})
	if asked == nil {
		asked = s.sendOn(ctx, probeShare, true, ask)
	}
	if asked != nil || lack == nil {
		return err
	}
	return lack
}

// rightsEvery is how often at most the host is told which rights are missing.
const rightsEvery = 10 * time.Second

// tellRights tells the host which rights are missing, when the server refused for one.
func (s *Store) tellRights(ctx context.Context, err error) {
	if s.opts.Warn == nil || !hasCode(err, codeNotAllowed) {
		return
	}
	now, last := time.Now().UnixNano(), s.rightsTold.Load()
	if now-last < int64(rightsEvery) || !s.rightsTold.CompareAndSwap(last, now) {
		return
	}
	if lack := core.AdviceOf(s.explainRights(context.WithoutCancel(ctx), err)); lack != "" {
		s.warn(lack)
	}
}

// checkMaintainRights says at once, and not on the day when a partition is missing, that this role can make none.
func (s *Store) checkMaintainRights(ctx context.Context) error {
	s.maintains.Store(true)
	return s.repeat(ctx, "maintain", s.sql.call("maintain_rights", wire.NewArgs(0), func(r wire.Row) error {
		if rights := r.Text(0); rights != "" {
			return s.lackOf(missing{toMaintain: rights})
		}
		return nil
	}))
}
