package boot

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/belfry-dev/belfry/adapters/webhook"
	"github.com/belfry-dev/belfry/core"
)

// leaseKeyName is the name of the secret that lease tokens are made with.
const leaseKeyName = "lease token key"

// Webhooks are the parts of a process that have to do with targets.
type Webhooks struct {
	Leases  *webhook.LeaseTokens // made with the installation's key: all processes read one another's
	Names   *core.Installations  // what jobs and alerts are called outside
	Guard   *webhook.Guard       // judges targets; nil where nothing is delivered
	Deliver *webhook.Webhook     // delivers jobs; nil where nothing is delivered
	machine *ThisMachine         // nil where this machine is open by settings only
}

// SecretStore keeps the installation's secrets, and says which installation it is; see core.TypeStore.
type SecretStore interface {
	core.InstallationStore
	TokenLister
	Secret(ctx context.Context, name string, fresh []byte) ([]byte, error)
}

// WebhookOptions are what OpenWebhooks takes beside settings.
type WebhookOptions struct {
	Log *slog.Logger     // told of hosts that are left alone, and full. Nil means nobody is
	Now func() time.Time // of signatures and breakers. Nil means time.Now
	// Resolver looks names up. Nil means the machine's.
	Resolver *net.Resolver
	// ThisMachine opens this machine to webhooks without a setting; see the type of that name. Requests must go through
	// Watch then.
	ThisMachine bool
}

// OpenWebhooks makes them of the settings and the installation's secret. Close them after the last delivery.
func OpenWebhooks(ctx context.Context, s Settings, store SecretStore, o WebhookOptions) (*Webhooks, error) {
	fresh := make([]byte, 32)
	if _, err := rand.Read(fresh); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	key, err := store.Secret(ctx, leaseKeyName, fresh)
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	w := &Webhooks{}
	if w.Names, err = core.NewInstallations(ctx, store); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	if w.Leases, err = webhook.NewLeaseTokens([][]byte{key}, w.Names.Scope); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	if len(s.WebhookSecrets) == 0 {
		return w, nil
	}
	guard := webhook.GuardOptions{
		Allow: s.WebhookAllow, Ports: s.WebhookPorts, DialTimeout: s.WebhookConnectTimeout, Resolver: o.Resolver,
		OnRefused: func(host string, address netip.Addr) { logRefused(o.Log, host, address) },
	}
	if o.ThisMachine {
		w.machine = &ThisMachine{tokens: store, log: o.Log, now: time.Now}
		guard.AlsoAllow, guard.While = machineNames, w.machine.Open
	}
	if w.Guard, err = webhook.NewGuard(guard); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	w.Deliver, err = webhook.New(webhook.Options{
		Secrets: s.WebhookSecrets, LeaseKeys: [][]byte{key}, Guard: w.Guard,
		Slots: s.deliverySlots(), PerTenant: s.WebhookPerTenant, PerHost: s.WebhookPerHost,
		Limits:  webhook.Limits{TLS: s.WebhookConnectTimeout, Answer: s.WebhookAnswerTimeout},
		Breaker: webhook.BreakerOptions{Failures: s.WebhookFailures, Pause: s.WebhookPause},
		Now:     o.Now, UserAgent: "Belfry", JobID: w.Names.JobID, LeaseScope: w.Names.Scope,
		OnEvent: func(e webhook.HostEvent) { logHost(o.Log, e) },
	})
	return w, err
}

// Watch passes requests of the API on to next.
func (w *Webhooks) Watch(next http.Handler) http.Handler {
	if w.machine == nil {
		return next
	}
	return w.machine.Watch(next)
}

// Handler is what a worker delivers with: nil where nothing is delivered.
func (w *Webhooks) Handler() core.Handler {
	if w.Deliver == nil {
		return nil
	}
	return w.Deliver
}

// Close closes the connections that are idle.
func (w *Webhooks) Close() {
	if w.Deliver != nil {
		w.Deliver.Close()
	}
}

// deliverySlots is how many of a worker's slots deliveries may use. Some are left, so that handlers run, and so that jobs
// whose turn it is not can be put back, whatever targets do.
func (s Settings) deliverySlots() int {
	if s.WebhookSlots > 0 {
		return s.WebhookSlots
	}
	return max(s.Workers*9/10, 1)
}

// DeriveWebhookSecret returns the signing secret of a tenant, of a type, or of a type of a tenant; see webhook.DeriveSecret.
func DeriveWebhookSecret(secret, tenant, typ string) (string, error) {
	return webhook.DeriveSecret(secret, tenant, typ)
}

// logRefused tells the operator what callers are not told: the address for which a name is refused.
func logRefused(log *slog.Logger, host string, address netip.Addr) {
	if log != nil {
		log.Warn("webhook host refused: it resolves to an address that is not public", "host", host, "address", address)
	}
}

func logHost(log *slog.Logger, e webhook.HostEvent) {
	if log == nil {
		return
	}
	level, args := slog.LevelInfo, []any{"host", e.Host}
	if e.Type != "" {
		args = append(args, "type", e.Type, "tenant", e.Tenant)
	}
	switch e.Kind {
	case webhook.HostPaused, webhook.EndpointPaused:
		level, args = slog.LevelWarn, append(args, "failures", e.Failures, "pause", e.Pause)
	case webhook.HostFull:
		args = append(args, "deliveries", e.PerHost)
	}
	log.Log(context.Background(), level, string(e.Kind), args...)
}

// checkWebhooks holds the settings of webhooks against their rules. No secret is repeated.
func (s Settings) checkWebhooks(bad tellFault) {
	if len(s.WebhookSecrets) > 0 {
		if err := webhook.CheckSecrets(s.WebhookSecrets); err != nil {
			bad("BELFRY_WEBHOOK_SECRETS", "%s", err)
		}
	}
	if _, err := webhook.NewGuard(webhook.GuardOptions{Allow: s.WebhookAllow}); err != nil {
		bad("BELFRY_WEBHOOK_ALLOW", "%s", err)
	}
	if _, err := webhook.NewGuard(webhook.GuardOptions{Ports: s.WebhookPorts}); err != nil {
		bad("BELFRY_WEBHOOK_PORTS", "%s", err)
	}
	bad.count("BELFRY_WEBHOOK_SLOTS", s.WebhookSlots, 0, s.Workers)
	bad.count("BELFRY_WEBHOOK_PER_TENANT", s.WebhookPerTenant, 0, 100_000)
	bad.count("BELFRY_WEBHOOK_PER_HOST", s.WebhookPerHost, 1, 10_000)
	bad.count("BELFRY_WEBHOOK_FAILURES", s.WebhookFailures, 1, 1_000_000)
	bad.within("BELFRY_WEBHOOK_CONNECT_TIMEOUT", s.WebhookConnectTimeout, 100*time.Millisecond, time.Minute)
	bad.within("BELFRY_WEBHOOK_ANSWER_TIMEOUT", s.WebhookAnswerTimeout, time.Second, 24*time.Hour)
	bad.within("BELFRY_WEBHOOK_PAUSE", s.WebhookPause, 10*time.Millisecond, 5*time.Minute)
}
