package boot

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// Settings are all that the environment can say. The table in docs/settings.md is made from the tags here.
type Settings struct {
	DatabaseURL  string `env:"BELFRY_DATABASE_URL" doc:"PostgreSQL URL (postgres://…). Unset: cmd/local keeps its jobs in a SQLite file."`
	DatabasePool int    `env:"BELFRY_DATABASE_POOL" envDefault:"12" doc:"Connections of one process to PostgreSQL, 1 to 500."`

	QueueCriticalURL string `env:"BELFRY_QUEUE_CRITICAL_URL" doc:"gocloud URL of the critical queue; all three or none. None: workers claim straight from the table (direct)."`
	QueueDefaultURL  string `env:"BELFRY_QUEUE_DEFAULT_URL" doc:"gocloud URL of the default queue."`
	QueueBulkURL     string `env:"BELFRY_QUEUE_BULK_URL" doc:"gocloud URL of the bulk queue."`

	Addr string `env:"BELFRY_ADDR" envDefault:"127.0.0.1:8080" doc:"Address the API listens on."`

	Tokens   []string `env:"BELFRY_TOKENS" doc:"Bearer tokens, with commas, of which each call of the API must carry one; at least 20 characters each. Required unless the address is a loopback one."`
	Insecure bool     `env:"BELFRY_INSECURE" envDefault:"false" doc:"true serves any address without tokens."`

	Workers         int           `env:"BELFRY_WORKERS" envDefault:"1000" doc:"Jobs one process runs at once, 1 to 100000."`
	CriticalWorkers int           `env:"BELFRY_CRITICAL_WORKERS" envDefault:"0" doc:"Of these, slots that run critical jobs only; less than BELFRY_WORKERS."`
	Lease           time.Duration `env:"BELFRY_LEASE" envDefault:"60s" doc:"A worker's lease on a job; longer than two heartbeats."`
	Heartbeat       time.Duration `env:"BELFRY_HEARTBEAT" envDefault:"20s" doc:"How often a worker extends its leases."`
	Timeout         time.Duration `env:"BELFRY_TIMEOUT" envDefault:"15m" doc:"Of one attempt, where the job names none."`
	StopGrace       time.Duration `env:"BELFRY_STOP_GRACE" envDefault:"10s" doc:"How long running jobs may go on once the process was told to stop."`

	Tick             time.Duration `env:"BELFRY_TICK" envDefault:"1s" doc:"Period of the tick, 100ms to 1m."`
	BucketLease      time.Duration `env:"BELFRY_BUCKET_LEASE" envDefault:"4s" doc:"A scheduler's lease on its buckets; a stand-by takes over this long after it died, plus one tick."`
	Window           int           `env:"BELFRY_WINDOW" envDefault:"10000" doc:"Most jobs of one priority that are in its queue at once, 100 to 1000000."`
	HistoryRetention time.Duration `env:"BELFRY_HISTORY_RETENTION" envDefault:"168h" doc:"How long done and cancelled jobs are kept; 0 keeps them for ever."`
	DeadRetention    time.Duration `env:"BELFRY_DEAD_LETTER_RETENTION" envDefault:"720h" doc:"How long dead letters are kept; 0 keeps them for ever."`

	LogLevel  string `env:"BELFRY_LOG_LEVEL" envDefault:"info" doc:"debug, info, warn or error."`
	LogFormat string `env:"BELFRY_LOG_FORMAT" envDefault:"text" doc:"text or json."`
}

// ReadSettings reads the environment. Every fault is reported at once, each with the setting's name, what is
// wrong with the value, and what is allowed. Values of URLs are never repeated: they hold passwords.
func ReadSettings() (Settings, error) {
	s, err := env.ParseAs[Settings]()
	if err != nil {
		return s, explain(err)
	}
	return s, s.Check()
}

// explain gives the environment's names to the library's errors, which speak of Go fields.
func explain(err error) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return fmt.Errorf("settings: %w", err)
	}
	var out []error
	for _, e := range all.Errors {
		var p env.ParseError
		if !errors.As(e, &p) {
			out = append(out, fmt.Errorf("settings: %w", e))
			continue
		}
		name, want := p.Name, "a valid value"
		if f, ok := reflect.TypeFor[Settings]().FieldByName(p.Name); ok {
			name = f.Tag.Get("env")
		}
		switch p.Type {
		case reflect.TypeFor[time.Duration]():
			want = `a duration such as "90s" or "1h30m"`
		case reflect.TypeFor[int]():
			want = "a whole number"
		case reflect.TypeFor[bool]():
			want = "true or false"
		}
		out = append(out, fmt.Errorf("%s: want %s", name, want))
	}
	return errors.Join(out...)
}

// Check holds the settings against their rules.
func (s Settings) Check() error {
	var errs []error
	bad := func(name, rule string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", name, fmt.Sprintf(rule, args...)))
	}
	within := func(name string, got, low, high time.Duration) {
		if got < low || got > high {
			bad(name, "is %s, want %s to %s", got, low, high)
		}
	}
	count := func(name string, got, low, high int) {
		if got < low || got > high {
			bad(name, "is %d, want %d to %d", got, low, high)
		}
	}
	count("BELFRY_DATABASE_POOL", s.DatabasePool, 1, 500)
	count("BELFRY_WORKERS", s.Workers, 1, 100_000)
	count("BELFRY_CRITICAL_WORKERS", s.CriticalWorkers, 0, max(s.Workers-1, 0))
	count("BELFRY_WINDOW", s.Window, 100, 1_000_000)
	within("BELFRY_HEARTBEAT", s.Heartbeat, 100*time.Millisecond, time.Hour)
	if s.Lease <= 2*s.Heartbeat {
		bad("BELFRY_LEASE", "is %s, want longer than two heartbeats (BELFRY_HEARTBEAT is %s)", s.Lease, s.Heartbeat)
	}
	within("BELFRY_LEASE", s.Lease, 300*time.Millisecond, 12*time.Hour)
	within("BELFRY_TIMEOUT", s.Timeout, time.Second, 30*24*time.Hour)
	within("BELFRY_STOP_GRACE", s.StopGrace, 0, time.Hour)
	within("BELFRY_TICK", s.Tick, 100*time.Millisecond, time.Minute)
	within("BELFRY_BUCKET_LEASE", s.BucketLease, 3*s.Tick, 10*time.Minute)
	within("BELFRY_HISTORY_RETENTION", s.HistoryRetention, 0, 100*365*24*time.Hour)
	within("BELFRY_DEAD_LETTER_RETENTION", s.DeadRetention, 0, 100*365*24*time.Hour)
	for i, t := range s.Tokens {
		if len(t) < 20 || strings.ContainsAny(t, " \t\r\n") {
			bad("BELFRY_TOKENS", "token %d has %d characters, want at least 20 without spaces", i+1, len(t))
		}
	}
	if _, ok := logLevels[s.LogLevel]; !ok {
		bad("BELFRY_LOG_LEVEL", "is %q, want debug, info, warn or error", s.LogLevel)
	}
	if s.LogFormat != "text" && s.LogFormat != "json" {
		bad("BELFRY_LOG_FORMAT", "is %q, want text or json", s.LogFormat)
	}
	s.checkURLs(bad)
	return errors.Join(errs...)
}

func (s Settings) checkURLs(bad func(name, rule string, args ...any)) {
	if s.DatabaseURL != "" {
		u, err := url.Parse(s.DatabaseURL)
		if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
			bad("BELFRY_DATABASE_URL", "want a URL that begins with postgres:// or postgresql:// (the value is not shown: it may hold a password)")
		}
	}
	names := map[string]string{"BELFRY_QUEUE_CRITICAL_URL": s.QueueCriticalURL, "BELFRY_QUEUE_DEFAULT_URL": s.QueueDefaultURL, "BELFRY_QUEUE_BULK_URL": s.QueueBulkURL}
	set := 0
	for _, v := range names {
		if v != "" {
			set++
		}
	}
	for _, name := range []string{"BELFRY_QUEUE_CRITICAL_URL", "BELFRY_QUEUE_DEFAULT_URL", "BELFRY_QUEUE_BULK_URL"} {
		v := names[name]
		switch {
		case v == "" && set > 0:
			bad(name, "is not set, but another queue is: set all three, or none for direct mode")
		case v != "" && !strings.Contains(v, "://"):
			bad(name, "want a gocloud URL such as mem://critical")
		}
	}
}

// QueueMode reports whether queues are set.
func (s Settings) QueueMode() bool { return s.QueueDefaultURL != "" }
