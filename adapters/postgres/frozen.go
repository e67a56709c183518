package postgres

import (
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// thawKey is under which a connection keeps the thaw it was last asked after, idleKey its idleCheck.
const (
	thawKey = "belfry.thaw"
	idleKey = "belfry.idle"
)

// unaskedKey marks a context whose connection is used without asking first whether it still lives.
type unaskedKey struct{}

// pingTimeout bounds the question whether a connection still lives: a dead one often says nothing at all.
const pingTimeout = 3 * time.Second

// AfterFreeze says that this process may have been frozen, or that connections were lost: each connection is asked whether it still lives before its next
// use. A frozen process cannot measure how long a connection was idle, for its clock may have stood still.
func (s *Store) AfterFreeze() { s.thaws.Add(1) }

// Rest closes the connections that nobody uses, and returns once they are closed: a process that is frozen next would keep them
// open, and a serverless database with an open connection does not pause. The store goes on working; the next call connects.
func (s *Store) Rest(ctx context.Context) {
	for _, conn := range s.pool.AcquireAllIdle(ctx) {
		_ = conn.Hijack().Close(ctx)
	}
}

// shouldPing reports whether a connection is asked whether it still lives. One on which the server has something to say
// while nobody asks is likely to be at its end.
func (s *Store) shouldPing(ctx context.Context, p pgxpool.ShouldPingParams) bool {
	known := p.Conn.PgConn().CustomData()
	idle, _ := known[idleKey].(*idleCheck)
	if idle == nil {
		idle = newIdleCheck(p.Conn.PgConn().Conn())
		known[idleKey] = idle
	}
	if ctx.Value(unaskedKey{}) != nil {
		return !idle.quiet()
	}
	thaws := s.thaws.Load()
	if asked, _ := known[thawKey].(int64); asked != thaws {
		known[thawKey] = thaws
		return true
	}
	return p.IdleDuration > idlePing || !idle.quiet()
}

// errPlainPassword refuses to send a password that was made for one connection in the clear.
var errPlainPassword = errors.New("signed passwords go over TLS only: want sslmode=verify-full, verify-ca or require in the address")

// passwordError says why no password could be made for a connection.
type passwordError struct{ err error }

// addresses are left out of what a passwordError says: they may hold what is secret.
var addresses = regexp.MustCompile(`\S*(://|=)\S*`)

func (e *passwordError) Error() string {
	text := []rune(addresses.ReplaceAllString(e.err.Error(), "…"))
	return "its password could not be made: " + string(text[:min(len(text), 300)])
}

func (e *passwordError) Unwrap() error { return e.err }

// freshPassword asks for the password of each connection when it is made.
func freshPassword(config *pgxpool.Config, password func(context.Context) (string, error)) error {
	plain := config.ConnConfig.TLSConfig == nil
	for _, other := range config.ConnConfig.Fallbacks {
		plain = plain || other.TLSConfig == nil
	}
	if plain {
		return errPlainPassword
	}
	config.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) (err error) {
		if c.Password, err = password(ctx); err != nil {
			return &passwordError{err}
		}
		return nil
	}
	return nil
}
