package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/dialfault"
)

// The server's conditions that are told apart.
const (
	codeNoPartition         = "23514" // check_violation: no partition for the row
	codeUniqueViolation     = "23505"
	codeNotNull             = "23502"
	codeSequenceEnd         = "2200H" // a sequence has no number left
	codeSerialization       = "40001" // also raised by belfry.start_again
	codeDeadlock            = "40P01"
	codeLockNotAvailable    = "55P03" // lock_timeout passed
	codeQueryCanceled       = "57014" // statement_timeout passed, or ctx ended
	codeReadOnlyTransaction = "25006"
	codeNotAllowed          = "42501" // the role has no right to it
	codeUndefinedTable      = "42P01"
	codeUndefinedColumn     = "42703"
	codeDuplicateTable      = "42P07"
	codeUndefinedFunction   = "42883"
	codeInvalidSchema       = "3F000"
	codeWrongObject         = "42809" // not a partition of this table, or not any more
	codeNotInState          = "55000" // its detaching is pending already
	codeDiskFull            = "53100"
	codeAdminShutdown       = "57P01" // pg_terminate_backend, or the server stops
	codeIdleSession         = "57P05" // idle_session_timeout passed
	codeIdleInTransaction   = "25P03" // idle_in_transaction_session_timeout passed
	codeProtocolViolation   = "08P01"
	codeInvalidPassword     = "28P01"
	codeInvalidAuth         = "28000"
	codeNoDatabase          = "3D000"
	codeInvalidParameter    = "22023" // a value that a setting does not take
	codeUndefinedObject     = "42704" // no such setting
	codeSyntaxError         = "42601" // of the options of a connection
	codeFixedParameter      = "55P02" // a setting that no session can change
)

// wrap gives err the sentinel a caller can act on and says what was being done. It never repeats an address
// or a password: the driver's texts of connection errors are replaced, not quoted.
func wrap(act string, err error) error {
	if err == nil {
		return nil
	}
	for _, sentinel := range []error{core.ErrConflict, core.ErrNotFound, core.ErrStale, core.ErrSchema, core.ErrRights, core.ErrReadOnly, core.ErrBusy, core.ErrUnsafe} {
		if errors.Is(err, sentinel) {
			return fmt.Errorf("postgres: %s: %w", act, err)
		}
	}
	if text := settingText(err); text != "" {
		return fmt.Errorf("postgres: %s: %w: %s", act, core.ErrUnavailable, text)
	}
	var server *pgconn.PgError
	if errors.As(err, &server) {
		if isRowFault(server) {
			return fmt.Errorf("postgres: %s: %w: %w", act, core.ErrRow, &rowError{server.Message + " (SQLSTATE " + server.Code + ")", strings.HasPrefix(server.Code, "XX")})
		}
		if sentinel := sentinelOf(server); sentinel != nil {
			return fmt.Errorf("postgres: %s: %w: %s (SQLSTATE %s)", act, sentinel, server.Message, server.Code)
		}
		return fmt.Errorf("postgres: %s: %s (SQLSTATE %s)", act, server.Message, server.Code)
	}
	if ended := contextError(err); ended != nil {
		return fmt.Errorf("postgres: %s: %w: %w", act, core.ErrUnavailable, &dialfault.Error{Text: endedText(err, ended), Err: ended})
	}
	return fmt.Errorf("postgres: %s: %w: %s", act, core.ErrUnavailable, reason(err))
}

// rowError is what the server said of a row, without what was being done.
type rowError struct {
	text   string
	unread bool // a value of the row cannot be read
}

func (e *rowError) Error() string { return e.text }

// isRowFault reports whether the server refused for what is in a row, or what somebody's trigger or constraint says of it,
// so that the same without that row may succeed.
func isRowFault(e *pgconn.PgError) bool {
	if e.Code == codeNoPartition && strings.Contains(e.Message, "no partition of relation") {
		return false
	}
	return rowFaultCode(e.Code, strings.Contains(e.Where, "PL/pgSQL function"))
}

// rowFaultCode is isRowFault of a condition. A function, as triggers have, may raise any: there only those are none of the
// row's that tell of the server, its locks and transactions.
func rowFaultCode(code string, inFunction bool) bool {
	switch code[:min(2, len(code))] {
	case "21", "22", "23", "27", "2F", "38", "39", "44", "54", "P0", "XX":
		return true
	case "08", "25", "28", "3D", "40", "53", "55", "57", "58":
		return false
	}
	return inFunction
}

func sentinelOf(e *pgconn.PgError) error {
	switch e.Code {
	case codeReadOnlyTransaction:
		return core.ErrReadOnly
	case codeNotAllowed:
		return core.ErrRights
	case codeDiskFull:
		return fmt.Errorf("%w: %w", core.ErrFull, core.ErrReadOnly)
	case codeLockNotAvailable, codeDeadlock, codeSerialization:
		return core.ErrBusy
	case codeUndefinedTable, codeUndefinedColumn, codeUndefinedFunction, codeInvalidSchema:
		return fmt.Errorf("%w: run the migrations (belfry migrate up)", core.ErrSchema)
	case codeInvalidPassword, codeInvalidAuth, codeNoDatabase, codeQueryCanceled:
		return core.ErrUnavailable
	}
	switch e.Code[:min(2, len(e.Code))] {
	case "08", "57", "53", "58": // connection, operator intervention, resources, system
		return core.ErrUnavailable
	}
	return nil
}

func contextError(err error) error {
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ended) {
			return ended
		}
	}
	return nil
}

// endedText words that the time, or the call, was over before there was a connection or an answer.
func endedText(err, ended error) string {
	switch {
	case errors.Is(ended, context.Canceled):
		return "the call was cancelled"
	case connectText(err) != "":
		return connectText(err)
	}
	return "no answer in time"
}

// reason says in a few words why a connection failed, without the driver's text, which may quote an address.
func reason(err error) string {
	var password *passwordError
	if errors.As(err, &password) {
		return password.Error()
	}
	var dialed *dialError
	if errors.As(err, &dialed) {
		return dialed.Error()
	}
	if text := connectText(err); text != "" {
		return text
	}
	text := "the connection broke"
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Addr != nil {
		text = "the connection to " + op.Addr.String() + " broke"
	}
	if cause := dialfault.Cause(err); cause != "" {
		text += ": " + cause
	}
	return text
}

// connectText says to which server no connection could be made, and why; "" where err is not about that. The host and
// port of a server are no secret.
func connectText(err error) string {
	var failed *pgconn.ConnectError
	if !errors.As(err, &failed) {
		return ""
	}
	host := hostOf(failed.Config)
	text := errors.Unwrap(failed).Error()
	switch {
	case strings.Contains(text, "server refused TLS connection") && onlyTLS(failed.Config):
		return "no connection to " + host + ": the server has no TLS there, and sslmode asks for it"
	case strings.Contains(text, "invalid message"), strings.Contains(text, "unknown message type"), strings.Contains(text, "unexpected message"):
		return "no connection to " + host + ": what answers there is not PostgreSQL"
	}
	hint := ""
	var dns *net.DNSError
	if !errors.As(err, &dns) && dialfault.CertificateFault(err) == "" {
		hint = "is PostgreSQL running there?"
	}
	return dialfault.NewError(host, err, hint).Error()
}

// hostOf is the host and port that an address names, or all of several.
func hostOf(config *pgconn.Config) string {
	hosts := []string{hostPort(config.Host, config.Port)}
	for _, other := range config.Fallbacks { // the same host again without TLS is one too
		if host := hostPort(other.Host, other.Port); host != hosts[len(hosts)-1] {
			hosts = append(hosts, host)
		}
	}
	return strings.Join(hosts, ", ")
}

func hostPort(host string, port uint16) string {
	if strings.HasPrefix(host, "/") { // the directory of a Unix socket
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// onlyTLS reports whether no attempt would have gone without TLS.
func onlyTLS(config *pgconn.Config) bool {
	without := func(c *tls.Config) bool { return c == nil }
	for _, other := range config.Fallbacks {
		if without(other.TLSConfig) {
			return false
		}
	}
	return !without(config.TLSConfig)
}

// hasCode reports whether the server refused with this SQLSTATE.
func hasCode(err error, code string) bool {
	if err == nil {
		return false
	}
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == code
}
