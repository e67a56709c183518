package boot

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"github.com/belfry-dev/belfry/core"
)

// Settings are the settings in the environment. The table in docs/settings.md is made from these tags.
type Settings struct {
	DatabaseURL  string `env:"BELFRY_DATABASE_URL" doc:"PostgreSQL URL (postgres://…). Unset: cmd/local keeps its jobs in a SQLite file."`
	DatabasePool int    `env:"BELFRY_DATABASE_POOL" envDefault:"12" doc:"Connections of one process to PostgreSQL, 1 to 500. The tick and the workers of a process always keep a quarter of them."`

	RDSIAM bool `env:"BELFRY_RDS_IAM" envDefault:"false" doc:"true signs a token with the program's AWS role for each connection to Amazon RDS, in place of the password; programs on AWS only."`

	CloudSQLInstance string `env:"BELFRY_CLOUDSQL_INSTANCE" doc:"Cloud SQL instance, PROJECT:REGION:INSTANCE, that is reached through Google's connector; the host in the database URL is then ignored. Programs on Google Cloud only."`
	CloudSQLIAM      bool   `env:"BELFRY_CLOUDSQL_IAM" envDefault:"false" doc:"true signs in at the Cloud SQL instance as the program's service account, without a password."`
	CloudSQLIP       string `env:"BELFRY_CLOUDSQL_IP" envDefault:"public" doc:"Which address of the Cloud SQL instance is used: public, private or psc."`

	QueueCriticalURL string `env:"BELFRY_QUEUE_CRITICAL_URL" doc:"gocloud URL of the critical queue; all three or none. None: workers claim straight from the table (direct)."`
	QueueDefaultURL  string `env:"BELFRY_QUEUE_DEFAULT_URL" doc:"gocloud URL of the default queue."`
	QueueBulkURL     string `env:"BELFRY_QUEUE_BULK_URL" doc:"gocloud URL of the bulk queue."`

	Queues    string `env:"BELFRY_QUEUES" doc:"Groups of types that have queues of their own, such as media=video.*,image.*;mail=mail.send; the other types share the queues above. The same for all processes."`
	QueuesURL string `env:"BELFRY_QUEUES_URL" doc:"gocloud URL of the groups' queues, such as amqp://belfry:secret@rabbit/?queue=belfry.{group}.{priority}; Belfry puts a name in place of {group} and critical, default or bulk in place of {priority}."`

	Addr string `env:"BELFRY_ADDR" envDefault:"127.0.0.1:8080" doc:"Address the API listens on."`

	KeepAlive  time.Duration `env:"BELFRY_KEEP_ALIVE" envDefault:"2m" doc:"How long the API keeps a connection open on which no request comes, 1s to 24h. It must be longer than the idle timeout of a load balancer in front (60s on AWS, 600s on Google Cloud). Unset it is 15m on Cloud Run."`
	HealthAddr string        `env:"BELFRY_HEALTH_ADDR" doc:"Address where cmd/server, and workers in containers that pull, say whether they make progress; unset it is :8081."`
	StartWait  time.Duration `env:"BELFRY_START_WAIT" envDefault:"2m" doc:"How long cmd/server waits at its start for PostgreSQL and the queues to answer, 0s to 24h."`

	Tokens   []string `env:"BELFRY_TOKENS" doc:"Bearer tokens, with commas, that may do everything; at least 20 characters of visible ASCII each, not in quotes. On any address other than loopback, these or tokens made by belfry tokens create are required."`
	Insecure bool     `env:"BELFRY_INSECURE" envDefault:"false" doc:"true serves any address while there are no tokens."`
	APIRate  int      `env:"BELFRY_API_RATE" envDefault:"2000" doc:"Maximum requests per second of one token, or of one address without a token, in each process, 1 to 1000000; 0 sets no maximum."`

	RequestMemory int `env:"BELFRY_REQUEST_MEMORY" envDefault:"256" doc:"Memory of one process for the bodies and answers of requests in flight, in MiB, 32 to 65536; one caller may use half of it. Beyond that calls wait up to 5s and are then answered 503. A batch may use an eighth of it, at most 32 MiB. If the process has less than 356 MiB of memory, the default is that less 100, but at least 32."`

	Stream bool `env:"BELFRY_STREAM" envDefault:"false" doc:"true if the Function URL of the API's Lambda function has the invoke mode RESPONSE_STREAM."`

	CallerAudience string `env:"BELFRY_CALLER_AUDIENCE" doc:"Audience that the identity tokens of Pub/Sub and Cloud Scheduler name, and no other; tick and worker on Cloud Run need it."`
	CallerAccount  string `env:"BELFRY_CALLER_ACCOUNT" doc:"E-mail address of the service account whose tokens those are; needed there too."`
	CallerKeysURL  string `env:"BELFRY_CALLER_KEYS_URL" envDefault:"https://www.googleapis.com/oauth2/v3/certs" doc:"URL of the keys that sign those tokens."`
	CallerIAM      bool   `env:"BELFRY_CALLER_IAM" envDefault:"false" doc:"true if Cloud Run checks callers itself, by run.invoker, and strips the signatures of their tokens. Never set it if anyone may invoke the service."`

	PushDeadline time.Duration `env:"BELFRY_PUSH_DEADLINE" envDefault:"10m" doc:"Acknowledgement deadline of the push subscriptions, 10s to 10m. An attempt has nine tenths of it."`
	TickTime     time.Duration `env:"BELFRY_TICK_TIME" envDefault:"110s" doc:"How long one call of the tick on Cloud Run goes on, 5s to 30m; not in economy mode."`

	KeepKeys time.Duration `env:"BELFRY_IDEMPOTENCY_RETENTION" envDefault:"24h" doc:"How long the answer to a submit with an Idempotency-Key is kept, 1m to 720h."`

	Workers         int `env:"BELFRY_WORKERS" envDefault:"1000" doc:"Jobs one process runs at once, 1 to 100000."`
	CriticalWorkers int `env:"BELFRY_CRITICAL_WORKERS" envDefault:"0" doc:"Slots of BELFRY_WORKERS that run only critical jobs; less than BELFRY_WORKERS."`

	WorkerPriorities []string `env:"BELFRY_WORKER_PRIORITIES" envDefault:"critical,default,bulk" doc:"Priorities whose jobs this worker takes, with commas; jobs of the others wait for workers that take them. Functions take the messages that they are called with."`

	WorkerQueues []string `env:"BELFRY_WORKER_QUEUES" doc:"Groups of BELFRY_QUEUES whose jobs this worker takes, with commas; ungrouped means the types of no group. Unset: the groups of its handlers' types, or all if it delivers webhooks."`

	Lease      time.Duration `env:"BELFRY_LEASE" envDefault:"60s" doc:"A worker's lease on a job; longer than two heartbeats."`
	Heartbeat  time.Duration `env:"BELFRY_HEARTBEAT" envDefault:"20s" doc:"How often a worker extends its leases."`
	Timeout    time.Duration `env:"BELFRY_TIMEOUT" envDefault:"15m" doc:"Timeout of an attempt whose job has none."`
	MaxTimeout time.Duration `env:"BELFRY_MOST_TIMEOUT" envDefault:"0s" doc:"Maximum timeout of a job run by a Go worker. Set it to what your platform allows, such as 14m on Lambda. The API refuses longer timeouts, workers end attempts that take longer. 0 sets no maximum."`
	StopGrace  time.Duration `env:"BELFRY_STOP_GRACE" envDefault:"10s" doc:"How long running jobs may go on once the process was told to stop."`
	StopDelay  time.Duration `env:"BELFRY_STOP_DELAY" envDefault:"0s" doc:"How long the API goes on answering once the process was told to stop, while /readyz answers 503 so that load balancers send requests elsewhere; 0s to 10m. Unset it is 5s in cmd/server and on Cloud Run, where it is at most 5s."`

	Tick             time.Duration `env:"BELFRY_TICK" envDefault:"1s" doc:"Period of the tick, 100ms to 1m."`
	BucketLease      time.Duration `env:"BELFRY_BUCKET_LEASE" envDefault:"4s" doc:"A scheduler's lease on its buckets; a stand-by takes over this long after it died, plus one tick."`
	Window           int           `env:"BELFRY_WINDOW" envDefault:"10000" doc:"Maximum jobs of one priority in its queue at once, 100 to 1000000."`
	Economy          bool          `env:"BELFRY_ECONOMY" envDefault:"false" doc:"true for functions: a tick makes one pass and ends, and the API itself publishes jobs that are due at once. For hosts that invoke the tick once a minute."`
	TickIdle         time.Duration `env:"BELFRY_TICK_IDLE" envDefault:"0s" doc:"A tick function ends once nothing is due within this time, 10s to 1h: the period of its invocations. API and workers must wake it (BELFRY_TICK_WAKE). 0 lets it tick until its deadline."`
	TickSleep        time.Duration `env:"BELFRY_TICK_SLEEP" envDefault:"0s" doc:"How long invocations of an idle tick function leave the database alone while nothing is due, up to 1h, so that a serverless database can pause; needs BELFRY_TICK_IDLE. Jobs that SQL submits start up to this late. 0 means no sleep."`
	TickWake         string        `env:"BELFRY_TICK_WAKE" doc:"What API and workers wake the tick function with: on AWS its name or ARN, on Google Cloud a gocloud URL of the topic that is pushed to it."`
	HistoryRetention time.Duration `env:"BELFRY_HISTORY_RETENTION" envDefault:"168h" doc:"How long done and cancelled jobs are kept; 0 keeps them for ever."`
	DeadRetention    time.Duration `env:"BELFRY_DEAD_LETTER_RETENTION" envDefault:"720h" doc:"How long dead letters are kept; 0 keeps them for ever."`
	LedgerRetention  time.Duration `env:"BELFRY_LEDGER_RETENTION" envDefault:"2160h" doc:"How long the ledger of schedules is kept; 0 keeps it for ever."`

	AlertURL      string `env:"BELFRY_ALERT_URL" doc:"URL to which alerts are delivered, as signed webhooks; needs BELFRY_WEBHOOK_SECRETS. It is checked like any target: an address that is not public must be in BELFRY_WEBHOOK_ALLOW."`
	AlertTopicURL string `env:"BELFRY_ALERT_TOPIC_URL" doc:"gocloud URL of a topic that alerts are sent to. Which schemes there are depends on the program."`

	WebhookSecrets        []string      `env:"BELFRY_WEBHOOK_SECRETS" doc:"Signing secrets of webhooks, with commas, the newest first; whsec_ and base64 of 24 to 64 bytes each, at most 10. Unset: nothing is delivered and jobs with a target are refused."`
	WebhookAllow          []string      `env:"BELFRY_WEBHOOK_ALLOW" doc:"What webhooks may reach beyond public addresses, with commas: networks (10.1.0.0/16), addresses, host names, *.names."`
	WebhookPorts          []int         `env:"BELFRY_WEBHOOK_PORTS" envDefault:"80,443,8080,8443" doc:"Ports that a target's URL may have, unless its host is on the allow-list."`
	WebhookSlots          int           `env:"BELFRY_WEBHOOK_SLOTS" envDefault:"0" doc:"Slots that deliveries may use at once, 1 to BELFRY_WORKERS; 0 means nine tenths of BELFRY_WORKERS."`
	WebhookPerTenant      int           `env:"BELFRY_WEBHOOK_PER_TENANT" envDefault:"0" doc:"Deliveries of one process for one tenant at once, jobs without a tenant counting as one tenant, 1 to 100000; 0 is nine tenths of the slots for deliveries."`
	WebhookPerHost        int           `env:"BELFRY_WEBHOOK_PER_HOST" envDefault:"50" doc:"Deliveries of one process to one host and port at once, 1 to 10000."`
	WebhookConnectTimeout time.Duration `env:"BELFRY_WEBHOOK_CONNECT_TIMEOUT" envDefault:"10s" doc:"Timeout of looking up a target's host and connecting to it, and then of TLS; 100ms to 1m."`
	WebhookAnswerTimeout  time.Duration `env:"BELFRY_WEBHOOK_ANSWER_TIMEOUT" envDefault:"60s" doc:"How long a delivery waits until the target's answer begins; a job's own timeout can shorten it, not lengthen it. 1s to 24h."`
	WebhookFailures       int           `env:"BELFRY_WEBHOOK_FAILURES" envDefault:"10" doc:"Failed deliveries in a row after which a process leaves an endpoint alone, and failed connections in a row after which it leaves a host alone, 1 to 1000000."`
	WebhookPause          time.Duration `env:"BELFRY_WEBHOOK_PAUSE" envDefault:"5s" doc:"First pause of an endpoint or host that is left alone, 10ms to 5m; it doubles up to 5m with each failed probe."`

	LogLevel  string `env:"BELFRY_LOG_LEVEL" envDefault:"info" doc:"debug, info, warn or error."`
	LogFormat string `env:"BELFRY_LOG_FORMAT" envDefault:"text" doc:"text or json."`
}

// ReadSettings reads the environment. Every fault is reported at once, each with the setting's name, what is
// wrong with the value, and what is allowed. Values of URLs are never repeated: they hold passwords.
func ReadSettings() (Settings, error) { return ReadSettingsOr(nil) }

// ReadSettingsOr reads the environment as ReadSettings does, for a program with its own defaults, which apply to settings
// that are not set.
func ReadSettingsOr(defaults map[string]string) (Settings, error) {
	all, faults := environment(defaults)
	s, err := env.ParseAsWithOptions[Settings](env.Options{Environment: all, FuncMap: map[reflect.Type]env.ParserFunc{
		reflect.TypeFor[time.Duration](): readDuration,
	}})
	if err != nil {
		faults = append(faults, explain(err))
	}
	if len(faults) > 0 {
		return s, errors.Join(faults...)
	}
	if _, set := all["BELFRY_REQUEST_MEMORY"]; !set {
		s.RequestMemory = requestMemory(s.RequestMemory, ownMemory(all["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]))
	}
	return s, s.Check()
}

// readDuration reads a duration, or 0, which needs no unit. One that is too long for a time.Duration becomes the longest
// one, which is out of bounds.
func readDuration(text string) (any, error) {
	d, ok := core.ReadDuration(text)
	if !ok && text != "0" {
		return d, errors.New("no duration")
	}
	return d, nil
}

// explain replaces the Go fields in the library's errors by the names of the settings.
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
		case reflect.TypeFor[[]int]():
			want = "whole numbers with commas"
		case reflect.TypeFor[bool]():
			want = "true or false"
		}
		out = append(out, fmt.Errorf("%s: want %s", name, want))
	}
	return errors.Join(out...)
}

// Check checks the settings.
func (s Settings) Check() error {
	var errs []error
	bad := tellFault(func(name, rule string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", name, fmt.Sprintf(rule, args...)))
	})
	within, count := bad.within, bad.count
	count("BELFRY_DATABASE_POOL", s.DatabasePool, 1, 500)
	count("BELFRY_WORKERS", s.Workers, 1, 100_000)
	count("BELFRY_CRITICAL_WORKERS", s.CriticalWorkers, 0, max(s.Workers-1, 0))
	s.checkPriorities(bad)
	s.checkQueueGroups(bad)
	count("BELFRY_API_RATE", s.APIRate, 0, 1_000_000)
	count("BELFRY_REQUEST_MEMORY", s.RequestMemory, 32, 65_536)
	within("BELFRY_IDEMPOTENCY_RETENTION", s.KeepKeys, time.Minute, 30*24*time.Hour)
	count("BELFRY_WINDOW", s.Window, 100, 1_000_000)
	within("BELFRY_HEARTBEAT", s.Heartbeat, 100*time.Millisecond, time.Hour)
	if s.Lease <= 2*s.Heartbeat {
		bad("BELFRY_LEASE", "is %s, want longer than two heartbeats (BELFRY_HEARTBEAT is %s)", s.Lease, s.Heartbeat)
	}
	within("BELFRY_LEASE", s.Lease, 300*time.Millisecond, 12*time.Hour)
	within("BELFRY_TIMEOUT", s.Timeout, time.Second, 30*24*time.Hour)
	within("BELFRY_STOP_GRACE", s.StopGrace, 0, time.Hour)
	within("BELFRY_STOP_DELAY", s.StopDelay, 0, 10*time.Minute)
	within("BELFRY_KEEP_ALIVE", s.KeepAlive, time.Second, 24*time.Hour)
	within("BELFRY_START_WAIT", s.StartWait, 0, 24*time.Hour)
	within("BELFRY_TICK", s.Tick, 100*time.Millisecond, time.Minute)
	s.checkIdle(bad)
	within("BELFRY_BUCKET_LEASE", s.BucketLease, 3*min(max(s.Tick, 0), time.Minute), 10*time.Minute)
	within("BELFRY_HISTORY_RETENTION", s.HistoryRetention, 0, 100*365*24*time.Hour)
	within("BELFRY_DEAD_LETTER_RETENTION", s.DeadRetention, 0, 100*365*24*time.Hour)
	for i, t := range s.Tokens {
		switch fault := core.TokenTextFault(t); {
		case fault != "":
			bad("BELFRY_TOKENS", "token %d %s", i+1, fault)
		case len(t) < 20:
			bad("BELFRY_TOKENS", "token %d has %d characters, want at least 20", i+1, len(t))
		}
	}
	if _, ok := logLevels[s.LogLevel]; !ok {
		bad("BELFRY_LOG_LEVEL", "is %q, want debug, info, warn or error", s.LogLevel)
	}
	if s.LogFormat != "text" && s.LogFormat != "json" {
		bad("BELFRY_LOG_FORMAT", "is %q, want text or json", s.LogFormat)
	}
	bad.address("BELFRY_ADDR", s.Addr)
	if s.HealthAddr != "" {
		bad.address("BELFRY_HEALTH_ADDR", s.HealthAddr)
	}
	s.checkURLs(bad)
	s.checkCallers(bad)
	s.checkCloudSQL(bad)
	s.checkWebhooks(bad)
	s.checkAlerts(bad)
	return errors.Join(errs...)
}

// tellFault adds that a setting breaks its rule.
type tellFault func(name, rule string, args ...any)

func (bad tellFault) within(name string, got, low, high time.Duration) {
	switch {
	case got == math.MaxInt64: // as far as a duration can be read
		bad(name, "is too long, want %s to %s", low, high)
	case got < low || got > high:
		bad(name, "is %s, want %s to %s", got, low, high)
	}
}

func (bad tellFault) count(name string, got, low, high int) {
	if got < low || got > high {
		bad(name, "is %d, want %d to %d", got, low, high)
	}
}

// address accepts a port with or without a host.
func (bad tellFault) address(name, text string) {
	_, port, err := net.SplitHostPort(text)
	if n, no := strconv.Atoi(port); err != nil || no != nil || n < 0 || n > 65535 {
		bad(name, "is %q, want HOST:PORT, such as 127.0.0.1:8080 or :8080", text)
	}
}

func (s Settings) checkURLs(bad tellFault) {
	if s.DatabaseURL != "" {
		u, err := url.Parse(s.DatabaseURL)
		if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") || ambiguous(s.DatabaseURL) {
			bad("BELFRY_DATABASE_URL", "want a URL that begins with postgres:// or postgresql:// (the value is not shown: it may hold a password, whose special characters must be percent-encoded)")
		}
	}
	for _, q := range s.QueueURLs() {
		switch {
		case q.Key.Group != "":
		case q.URL == "":
			bad(q.Setting, "is not set, but another queue is: set all three, or none for direct mode")
		case !gocloudURL(q.URL):
			bad(q.Setting, "want a gocloud URL such as mem://critical (the value is not shown: it may hold a password, whose special characters must be percent-encoded)")
		}
	}
}

// gocloudURL reports whether text is a URL that may name a queue or a topic.
func gocloudURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && strings.Contains(text, "://")
}

// ambiguous reports whether there is more than one @ before the path: URL parsers disagree where the password ends.
func ambiguous(text string) bool {
	_, rest, _ := strings.Cut(text, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return strings.Count(rest, "@") > 1
}

// QueueMode reports whether queues are set.
func (s Settings) QueueMode() bool { return s.QueueDefaultURL != "" }
