package webhook

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Options are the settings of a Webhook.
type Options struct {
	Secrets   []string       // signing secrets, whsec_ and base64 of 24 to 64 bytes; each signs every delivery; at least one
	LeaseKeys [][]byte       // see NewLeaseTokens; at least one
	Guard     *Guard         // allowed destinations; nil means public addresses only
	Limits    Limits         // of each stage
	Breaker   BreakerOptions // of each host and each endpoint
	Slots     int            // deliveries in flight; zero means 900
	PerTenant int            // maximum deliveries in flight of one tenant; zero means no bound except that it leaves room for others
	PerHost   int            // deliveries in flight to one host and port; zero means 50
	PerWait   time.Duration  // how long a job waits for a slot before it is snoozed; zero means 250 ms
	TLS       *tls.Config    // nil means Go's defaults
	UserAgent string         // zero means "Belfry"

	// JobID returns a job's webhook-id: the same for every attempt, and unique across installations. Nil means the job's
	// number, which other databases use too.
	JobID func(ctx context.Context, id int64) string
	// LeaseScope: see NewLeaseTokens.
	LeaseScope func(ctx context.Context, id int64) string

	OnEvent func(HostEvent) // called with changes at hosts; must not block. Nil means no call

	Now    func() time.Time // clock for signatures and breakers; nil means time.Now
	Chance func() float64   // 0 … 1, jitter of snoozes; nil means math/rand
}

// Webhook delivers jobs to their targets. It is a core.Handler, safe for concurrent use.
type Webhook struct {
	signer    signer
	leases    *LeaseTokens
	guard     *Guard
	limits    Limits
	admission *admission
	transport *http.Transport
	userAgent string
	jobID     func(ctx context.Context, id int64) string
	now       func() time.Time
}

var (
	_ core.Handler     = (*Webhook)(nil)
	_ core.SlotCounter = (*Webhook)(nil)
)

// New makes a Webhook. The error names the invalid option and never contains a secret.
func New(opts Options) (*Webhook, error) {
	signer, err := newSigner(opts.Secrets)
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	leases, err := NewLeaseTokens(opts.LeaseKeys, opts.LeaseScope)
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	if opts.Guard == nil {
		if opts.Guard, err = NewGuard(GuardOptions{}); err != nil {
			return nil, fmt.Errorf("webhook: %w", err)
		}
	}
	if opts.Slots < 0 || opts.PerTenant < 0 || opts.PerHost < 0 || opts.PerWait < 0 {
		return nil, errors.New("webhook: slots, deliveries per tenant and per host, and the wait for one must not be negative")
	}
	if opts.Slots == 0 {
		opts.Slots = 900
	}
	if opts.PerHost == 0 {
		opts.PerHost = 50
	}
	if opts.PerWait == 0 {
		opts.PerWait = 250 * time.Millisecond
	}
	if opts.UserAgent == "" {
		opts.UserAgent = "Belfry"
	}
	if opts.JobID == nil {
		opts.JobID = func(_ context.Context, id int64) string { return strconv.FormatInt(id, 10) }
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Chance == nil {
		opts.Chance = rand.Float64
	}
	w := &Webhook{
		signer: signer, leases: leases, guard: opts.Guard, limits: opts.Limits.withDefaults(),
		userAgent: opts.UserAgent, jobID: opts.JobID, now: opts.Now,
	}
	w.admission = &admission{
		breaker: opts.Breaker.withDefaults(), wait: opts.PerWait,
		bounds: bounds{slots: opts.Slots, perTenant: opts.PerTenant, perHost: min(opts.PerHost, opts.Slots)},
		now:    opts.Now, chance: opts.Chance, onEvent: opts.OnEvent,
		tenants: map[string]int{}, hosts: places{}, endpoints: places{},
	}
	w.transport = w.newTransport(opts)
	return w, nil
}

// newTransport makes the transport of all deliveries. It uses no proxy from the environment, because a proxy would connect
// where the guard cannot check. It uses no compression, so that a bounded body stays bounded.
func (w *Webhook) newTransport(opts Options) *http.Transport {
	return &http.Transport{
		DialContext:            w.guard.dialContext,
		TLSClientConfig:        opts.TLS.Clone(),
		TLSHandshakeTimeout:    w.limits.TLS,
		MaxResponseHeaderBytes: w.limits.HeaderBytes,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    opts.PerHost,
		IdleConnTimeout:        90 * time.Second,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		// Without pings, a connection that died silently would take deliveries until the kernel gives up.
		HTTP2: &http.HTTP2Config{SendPingTimeout: w.limits.Silence, PingTimeout: w.limits.Silence},
	}
}

// Close closes idle connections.
func (w *Webhook) Close() { w.transport.CloseIdleConnections() }

// Leases returns the LeaseTokens of the deliveries.
func (w *Webhook) Leases() *LeaseTokens { return w.leases }

// Work delivers one attempt of job to its target. Nil: the target answered 2xx, and a JSON body is the result.
// core.ResultLost: it answered 2xx, but the body was lost. core.ErrAccepted: it answered 202 and will report the end itself.
// A permanent error: the target is not allowed, or it answered 4xx. A snooze: the host is failing or full, nothing was sent
// and no attempt is used. Any other error: retry, after Retry-After if the target sent it.
func (w *Webhook) Work(ctx context.Context, job *core.Job) (json.RawMessage, error) {
	target, err := w.guard.parseTarget(job.Target)
	if err != nil {
		return nil, core.Permanent(err)
	}
	pass, err := w.admission.enter(ctx, routeOf(target, job))
	if err != nil {
		return nil, err
	}
	var end ended
	defer func() { pass.leave(end.host, end.endpoint) }()
	end = w.deliver(ctx, pass, target, job)
	return end.result, end.err
}

// DeliverySlots implements core.SlotCounter.
func (w *Webhook) DeliverySlots() (slots, inUse int) {
	w.admission.mu.Lock()
	defer w.admission.mu.Unlock()
	return w.admission.bounds.slots, w.admission.inFlight
}

// Counts returns the current deliveries.
func (w *Webhook) Counts() Counts { return w.admission.counts() }

// deliver sends one request and reads its answer. A job's own timeout may shorten the wait for the answer but never lengthen
// it, because the operator sets that bound.
func (w *Webhook) deliver(ctx context.Context, pass *pass, target *target, job *core.Job) ended {
	answerLimit := w.limits.Answer
	if job.Timeout > 0 {
		answerLimit = min(answerLimit, job.Timeout)
	}
	staged, stages := newStages(ctx)
	defer stages.leave()
	var handshakeFailed atomic.Bool
	req, err := w.newRequest(httptrace.WithClientTrace(staged, &httptrace.ClientTrace{
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) { handshakeFailed.Store(err != nil) },
		GotConn: func(conn httptrace.GotConnInfo) {
			stages.enter("waiting for the answer", answerLimit)
			if !conn.Reused {
				pass.connected()
			}
		},
	}), target, job)
	if err != nil {
		return ended{err: core.Permanent(describe(target.host(), err))}
	}
	resp, err := w.transport.RoundTrip(req) // not a Client, which would follow redirects
	if err != nil {
		end := undelivered(ctx, staged, target.host(), err)
		if dial := (*dialError)(nil); ctx.Err() == nil && (errors.As(err, &dial) || handshakeFailed.Load()) {
			end.host, end.endpoint = unhealthy, unknown
		}
		return end
	}
	defer resp.Body.Close()
	stages.enter("reading the answer", w.limits.Body)
	var body answerBody
	if resp.StatusCode >= 200 { // after a 101 the body is the bare connection, and the end of ctx does not end a read
		body = readBody(resp, core.MaxResultBytes)
	}
	return judgeAnswer(target.host(), resp, body, w.now())
}

// undelivered returns the end of an attempt without an answer. If the attempt's context has ended, the error is its cause,
// which package decide uses. Only a timeout counts against the endpoint. Nothing counts against the host, because a job's
// own timeout may be too short for any host.
func undelivered(ctx, staged context.Context, host string, err error) ended {
	if ctx.Err() != nil {
		cause := context.Cause(ctx)
		end := ended{err: fmt.Errorf("target %s: %w", host, cause)}
		if errors.Is(cause, core.ErrTimeout) || errors.Is(cause, context.DeadlineExceeded) {
			end.endpoint = unhealthy
		}
		return end
	}
	if staged.Err() != nil {
		err = context.Cause(staged)
	}
	return ended{err: describe(host, err), endpoint: unhealthy}
}
