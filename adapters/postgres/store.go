package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// Options of a store. The zero value is ready.
type Options struct {
	// PoolSize bounds the connections of this store; from 4 on, that many stay open although idle. Zero means 8.
	PoolSize int
	// LockTimeout bounds the wait for a dedupe key, or for a single row, that another transaction holds. A call that
	// waits keeps no connection. Zero means 2 s.
	LockTimeout time.Duration
	// ConnectTimeout bounds one attempt to connect. Zero means 5 s, or what the address says.
	ConnectTimeout time.Duration
	// Password gives the password of each new connection, such as a token signed for it; the address must ask for TLS.
	// Nil means what the address says.
	Password func(ctx context.Context) (string, error)
	// Dial makes each connection, instead of to where the address says, to the one server that it knows, and protects it:
	// nothing is encrypted a second time. Nil means that the address says where.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// IdleTime is how long a connection may be idle before it is closed. Zero means 30 min.
	IdleTime time.Duration
	// Warn is told what an operator should know of the server's settings, each text once. Nil means nobody is told.
	Warn func(text string)
	// Clock is an offset in microseconds added to the server's clock everywhere, so that tests can move time;
	// stores on one database must share it. Zero means none: the server's clock as it is.
	Clock *atomic.Int64
}

// Store is a core.Store in PostgreSQL. It may be used from many goroutines.
type Store struct {
	pool      *pgxpool.Pool
	sql       statements
	opts      Options
	shares    *shares
	locks     locks
	holders   holders
	freshKeys freshKeys
	closed    closedLanes
	refused   atomic.Pointer[error] // why the last new connection was refused
	warned    sync.Map              // texts that the host was told
	// maintains says that this process makes partitions, and so needs the rights for it.
	maintains atomic.Bool
	// serves says that this process answers callers, and so needs the rights for it.
	serves     atomic.Bool
	rightsTold atomic.Int64 // when the host was last told of missing rights, in nanoseconds since 1970
	given      givenIDs
	thaws      atomic.Int64 // how often the process was said to have been frozen
	// intercept gets what would be sent and may refuse it: tests look at plans. Nil in production.
	intercept func([]wire.Call) error
	// listWindow is a test's own, in place of the constant. Zero in production.
	listWindow int64
}

var _ core.Store = (*Store)(nil)

// idlePing is how long a connection may have been idle to be used without asking first whether it still lives.
// It is longer than a tick, so that an idle scheduler sends one statement a second and not two.
const idlePing = 5 * time.Second

// Open connects and checks that the schema fits this program: it returns an error that wraps core.ErrSchema
// and says what to do when Migrate must run first, and core.ErrUnavailable when the server cannot be reached.
func Open(ctx context.Context, dsn string, opts Options) (*Store, error) {
	if opts.PoolSize < 0 || opts.LockTimeout < 0 || opts.ConnectTimeout < 0 || opts.IdleTime < 0 {
		return nil, errors.New("postgres: open: options are never negative")
	}
	if opts.PoolSize == 0 {
		opts.PoolSize = 8
	}
	if opts.LockTimeout == 0 {
		opts.LockTimeout = 2 * time.Second
	}
	if opts.Clock == nil {
		opts.Clock = new(atomic.Int64)
	}
	sql, err := allStatements()
	if err != nil {
		return nil, fmt.Errorf("postgres: open: %w", err)
	}
	config, err := poolConfig(dsn, opts)
	if err != nil {
		return nil, err
	}
	s := &Store{sql: sql, opts: opts, shares: newShares(opts.PoolSize)}
	config.ShouldPing, config.AfterConnect = s.shouldPing, s.beginSession
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, wrap("open", err)
	}
	s.pool = pool
	if err = wrap("open", s.explainRights(ctx, s.checkSchema(ctx))); err == nil {
		err = s.mendSequences(ctx)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// ErrAddress stands for every fault of a database's address: the parser's own texts quote it, password and all.
var ErrAddress = errors.New("the database address is not valid: want postgres://user:password@host:port/database or host=… user=… dbname=…")

func poolConfig(dsn string, opts Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("postgres: open: %w", ErrAddress)
	}
	config.MaxConns = int32(opts.PoolSize)
	config.MinConns = min(config.MaxConns, opts.warm())
	config.PingTimeout = pingTimeout
	if opts.IdleTime > 0 {
		config.MaxConnIdleTime = opts.IdleTime
	}
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	if opts.ConnectTimeout > 0 {
		config.ConnConfig.ConnectTimeout = opts.ConnectTimeout
	}
	sureConnection(config.ConnConfig)
	if opts.Dial != nil {
		dialBy(config.ConnConfig, opts.Dial)
	}
	if opts.Password != nil {
		if err := freshPassword(config, opts.Password); err != nil {
			return nil, fmt.Errorf("postgres: open: %w", err)
		}
	}
	return config, nil
}

// sureConnection bounds the attempt to connect, for a server that takes connections and says nothing, and sets what the
// session begins with.
func sureConnection(config *pgx.ConnConfig) {
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	setSession(config)
}

// dialBy leaves finding the server and encryption to dial. The address's host is not looked up.
func dialBy(config *pgx.ConnConfig, dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, &dialError{err}
		}
		return conn, nil
	}
	config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	config.TLSConfig, config.Fallbacks = nil, nil
}

// dialError is what Options.Dial says. It knows no address and no password, so it may be quoted.
type dialError struct{ error }

func (e *dialError) Unwrap() error { return e.error }

// Close ends all connections, after the calls under way.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// args begins the parameters of a statement with the clock's offset, which is $1 of nearly all.
func (s *Store) args(n int) *wire.Args {
	return wire.NewArgs(n + 1).Interval(time.Duration(s.opts.Clock.Load()) * time.Microsecond)
}

// guard begins the pipeline of a hot statement. It bounds waits for locks and keeps the planner to the indexes these
// statements were written for, whatever the statistics say of a table that fills and empties all day: no scan of a
// whole table or bitmap, rows looked up one by one instead of joined whole, and no compiler started for a cost that
// only these settings make look high. All of it ends with the transaction.
func (s *Store) guard(locks time.Duration) wire.Call {
	return s.sql.call("guard", wire.NewArgs(1).Text(milliseconds(locks)), nil)
}

// Now is the store's clock.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.repeat(ctx, "now", s.sql.call("now", s.args(0), func(r wire.Row) error {
		now = r.Time(0)
		return nil
	}))
	return now, err
}

// warm is how many connections are kept open although idle: a burst begins with these, and a new one costs the
// server a process whose caches are empty.
func (o Options) warm() int32 {
	if o.PoolSize < 4 {
		return 0 // a function that is mostly frozen
	}
	return 4
}
