package wire

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Prepared statements spare the server parsing and planning, which cost more than running a statement that
// touches few rows. They live in a server's session, so they are used only where a connection is one: a pooler
// in transaction mode gives every transaction another.

// preparedKey is where a connection keeps the names of its prepared statements, sessionKey whether it is a session.
const (
	preparedKey = "belfry.prepared"
	sessionKey  = "belfry.session"
)

// prepared are the statements of one session: text to name.
type prepared map[string]string

// Prepare makes Run prepare the statements it sends on conn, which is a session of its own: the process that answers is
// the one whose id was told when it connected. Poolers tell ids of their own making.
func Prepare(conn *pgconn.PgConn) {
	conn.CustomData()[preparedKey] = prepared{}
	conn.CustomData()[sessionKey] = true
}

// IsSession reports whether conn was found to be a session of its own, on which settings stay.
func IsSession(conn *pgconn.PgConn) bool {
	own, _ := conn.CustomData()[sessionKey].(bool)
	return own
}

// preparedOn are the statements of conn, nil where none are used.
func preparedOn(conn *pgconn.PgConn) prepared {
	p, _ := conn.CustomData()[preparedKey].(prepared)
	return p
}

// forget makes conn do without prepared statements from now on.
func forget(conn *pgconn.PgConn) { delete(conn.CustomData(), preparedKey) }

// The errors by which a server says that a prepared statement does not fit any more: its result changed with the
// schema, or the session is not the one it was prepared in.
const (
	codeResultChanged = "0A000"
	codeNotPrepared   = "26000"
	codePreparedTwice = "42P05"
)

// Outdated reports whether err is about prepared statements. Nothing was committed then. Run itself tries again,
// except inside an open transaction, which is then its owner's to repeat.
func Outdated(err error) bool {
	if err == nil {
		return false
	}
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	return e.Code == codeResultChanged || e.Code == codeNotPrepared || e.Code == codePreparedTwice
}
