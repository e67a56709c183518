package boot

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// ThisMachine decides whether webhooks may reach receivers on this machine without a setting. They may if only users of this
// machine can submit jobs, because the process serves its API on loopback without tokens; so a first try needs no setting.
// This ends with the first token and with the first request through a proxy: then others may submit, and only
// BELFRY_WEBHOOK_ALLOW opens addresses of this machine. Safe for concurrent use.
type ThisMachine struct {
	tokens TokenLister
	log    *slog.Logger
	now    func() time.Time

	mu      sync.Mutex
	shut    string    // why it is closed; "" while it is open
	checked time.Time // when the store was last asked for tokens
}

// TokenLister is the part of a store that ThisMachine uses.
type TokenLister interface {
	ListTokens(ctx context.Context, after string, limit int) ([]core.Token, error)
}

const (
	tokensEvery   = time.Second // maximum age of the answer that there are no tokens
	tokensTimeout = 2 * time.Second
)

// machineNames are the names of this machine for an allow-list.
var machineNames = []string{"127.0.0.0/8", "::1", "localhost"}

// Open reports whether webhooks may reach this machine. While the store does not answer, no token can be made.
func (m *ThisMachine) Open() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shut != "" {
		return false
	}
	now := m.now()
	if now.Sub(m.checked) < tokensEvery {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), tokensTimeout)
	defer cancel()
	tokens, err := m.tokens.ListTokens(ctx, "", 1)
	if err == nil && len(tokens) > 0 {
		m.shutLocked("there are tokens")
		return false
	}
	m.checked = now
	return true
}

func (m *ThisMachine) shutLocked(why string) {
	m.shut = why
	if m.log != nil {
		m.log.Warn("webhooks do not reach this machine any more, but for what BELFRY_WEBHOOK_ALLOW opens", "because", why)
	}
}

// proxyHeaders are set by proxies on forwarded requests.
var proxyHeaders = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix", "X-Forwarded-Port", "X-Real-Ip"}

// Watch passes requests on to next. It first notes whether a request came through a proxy.
func (m *ThisMachine) Watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range proxyHeaders {
			if _, told := r.Header[name]; told {
				m.proxied(name)
				break
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (m *ThisMachine) proxied(header string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shut == "" {
		m.shutLocked("a request came through a proxy: it has the header " + header)
	}
}
