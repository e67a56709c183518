package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// oldestServer is the oldest version of PostgreSQL whose features the statements keep to.
const oldestServer = 14

// beginSession checks each new connection: the server, its database or its role may have changed since the last one. A
// session that only this connection uses gets settings that hold until it ends.
func (s *Store) beginSession(ctx context.Context, conn *pgx.Conn) error {
	pg := conn.PgConn()
	own := [][]byte{[]byte(strconv.FormatUint(uint64(pg.PID()), 10)), []byte(milliseconds(sessionLockWait))}
	found, err := oneRow(pg.ExecParams(ctx, s.sql["session"], own, nil, nil, nil))
	if err != nil {
		return err
	}
	err = checkSession(found)
	s.noteRefusal(err)
	if err != nil {
		return err
	}
	if found[serverFsync] != "on" || found[serverFullPageWrites] != "on" {
		s.warn("fsync or full_page_writes is off on the server: when its machine crashes, jobs that were accepted may be lost, and all of its data")
	}
	if found[serverOwn] == "t" { // else a pooler: the next transaction may be in another session
		wire.Prepare(pg)
	}
	return nil
}

// Places of the columns of session.sql.
const (
	serverVersion = iota
	serverIsolation
	serverEncoding
	serverCommit
	serverFsync
	serverFullPageWrites
	serverOwn
)

// checkSession refuses a server, or settings of its database or this role, on which the store would not keep its word.
func checkSession(found []string) error {
	version, err := strconv.Atoi(found[serverVersion])
	switch {
	case err != nil:
		return fmt.Errorf("the server's version is %q", found[serverVersion])
	case version < oldestServer*10_000:
		return unsafeSetting("the server is PostgreSQL %d; want %d or newer", version/10_000, oldestServer)
	case found[serverIsolation] != "read committed":
		return unsafeSetting(`default_transaction_isolation is %q; want "read committed" for this database and role`, found[serverIsolation])
	case found[serverCommit] == "off":
		return unsafeSetting("synchronous_commit is off, so what was accepted would not be on disk; want on for this database and role")
	case found[serverEncoding] != "UTF8":
		return unsafeSetting("the database's encoding is %s; want UTF8", found[serverEncoding])
	}
	return nil
}

func unsafeSetting(format string, args ...any) error {
	return core.Advise(core.ErrUnsafe, fmt.Sprintf(format, args...))
}

// trySession makes a connection as the pool does, to see whether new ones are still refused. The pool may have no need of
// one for long.
func (s *Store) trySession(ctx context.Context) error {
	config := s.pool.Config()
	if config.BeforeConnect != nil {
		if err := config.BeforeConnect(ctx, config.ConnConfig); err != nil {
			return err
		}
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return err
	}
	return errors.Join(s.beginSession(ctx, conn), conn.Close(context.WithoutCancel(ctx)))
}

// noteRefusal remembers whether the last new connection was refused, for readiness, and warns when that begins.
func (s *Store) noteRefusal(err error) {
	if err == nil {
		s.refused.Store(nil)
		return
	}
	if before := s.refused.Swap(&err); before == nil || (*before).Error() != err.Error() {
		s.warn("new connections are refused: " + core.AdviceOf(err))
	}
}

// warn tells the host what an operator should know, each text once.
func (s *Store) warn(text string) {
	if s.opts.Warn == nil {
		return
	}
	if _, told := s.warned.LoadOrStore(text, true); !told {
		s.opts.Warn(text)
	}
}

// oneRow reads the one row of a statement, as texts.
func oneRow(reader *pgconn.ResultReader) ([]string, error) {
	result := reader.Read()
	if result.Err != nil {
		return nil, result.Err
	}
	if len(result.Rows) != 1 {
		return nil, fmt.Errorf("want one row, got %d", len(result.Rows))
	}
	texts := make([]string, len(result.Rows[0]))
	for i, value := range result.Rows[0] {
		texts[i] = string(value)
	}
	return texts, nil
}

// sessionSettings say what strings mean and how times are written. These four are what poolers in transaction mode pass on too.
var sessionSettings = map[string]string{
	"client_encoding":             "UTF8",
	"standard_conforming_strings": "on",
	"TimeZone":                    "UTC",
	"DateStyle":                   "ISO, MDY", // in the words of the server, so that poolers see no difference
}

// setSession sets the session's settings, which override those of the database and the role. It drops what the address or the
// environment (PGTZ) say of them: PostgreSQL ignores the case of names, so both would be sent, and either could win.
func setSession(config *pgx.ConnConfig) {
	for name := range config.RuntimeParams {
		for ours := range sessionSettings {
			if strings.EqualFold(name, ours) {
				delete(config.RuntimeParams, name)
			}
		}
	}
	maps.Copy(config.RuntimeParams, sessionSettings)
}

// settingInOptions finds the names in -c name=value and --name=value.
var settingInOptions = regexp.MustCompile(`(?:-c\s*|--)([\w.-]+)`)

// settingText says that the server, or a pooler, refused the connection because of a setting that the session was to begin
// with, and where to correct it; "" where err is not about that.
func settingText(err error) string {
	var failed *pgconn.ConnectError
	var server *pgconn.PgError
	if !errors.As(err, &failed) || !errors.As(err, &server) {
		return ""
	}
	said := strings.ToLower(server.Message)
	switch server.Code {
	case codeInvalidParameter, codeUndefinedObject, codeSyntaxError, codeFixedParameter:
	case codeNotAllowed, codeProtocolViolation: // which are said of other things too
		if !strings.Contains(said, "parameter") {
			return ""
		}
	default:
		return ""
	}
	text := "a setting of the session is refused: " + server.Message + " (SQLSTATE " + server.Code + ")"
	if named := nameIn(said, failed.Config.RuntimeParams); named != "" {
		text += "; correct or remove " + named + " in the database's address"
	} else if failed.Config.RuntimeParams["options"] != "" {
		text += "; correct it in PGOPTIONS, or in options of the database's address"
	}
	return text
}

// nameIn is the parameter of an address that a text names, or "". The options have names of their own inside, which come first.
func nameIn(text string, params map[string]string) string {
	for _, found := range settingInOptions.FindAllStringSubmatch(params["options"], -1) {
		if strings.Contains(text, strings.ToLower(strings.ReplaceAll(found[1], "-", "_"))) {
			return ""
		}
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if _, ours := sessionSettings[name]; !ours && name != "options" && strings.Contains(text, strings.ToLower(name)) {
			return name
		}
	}
	return ""
}
