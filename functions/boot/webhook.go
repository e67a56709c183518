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

// leaseKeyName names the secret that lease tokens are made with.
const leaseKeyName = "lease token key"

// Webhooks are the parts of a process that deal with targets.
type Webhooks struct {
	Leases  *webhook.LeaseTokens // made with the installation's key: every process can read them
	Names   *core.Installations  // ids of jobs and alerts outside Belfry
	Guard   *webhook.Guard       // checks targets; nil if nothing is delivered
	Deliver *webhook.Webhook     // delivers jobs; nil if nothing is delivered
	machine *ThisMachine         // nil if only settings can open this machine
}

// SecretStore keeps the installation's secrets and identifies the installation; see core.TypeStore.
type SecretStore interface {
	core.InstallationStore
	TokenLister
	Secret(ctx context.Context, name string, fresh []byte) ([]byte, error)
}

// WebhookOptions configure OpenWebhooks beside the settings.
type WebhookOptions struct {
	Log *slog.Logger     // logs hosts that are left alone or full. Nil means no log
	Now func() time.Time // clock of signatures and breakers. Nil means time.Now
	// Resolver looks names up. Nil means the machine's.
	Resolver *net.Resolver
	// ThisMachine can open this machine to webhooks without a setting; see type ThisMachine. Requests must then go through
	// Watch.
	ThisMachine bool
}

// OpenWebhooks makes Webhooks from the settings and the installation's secret. Close them after the last delivery.
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

// Handler is the worker's handler for deliveries; nil if nothing is delivered.
func (w *Webhooks) Handler() core.Handler {
	if w.Deliver == nil {
		return nil
	}
	return w.Deliver
}

// Close closes the idle connections.
func (w *Webhooks) Close() {
	if w.Deliver != nil {
		w.Deliver.Close()
	}
}

// deliverySlots returns how many of a worker's slots deliveries may use. Slow targets must leave some slots for handlers,
// and for putting back jobs that have to wait.
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

// logRefused logs what callers do not see: the address for which a name is refused.
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

// checkWebhooks checks the settings of webhooks. It repeats no secret.
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
