package boot

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// ThisMachine says whether webhooks may reach receivers on this machine although no setting opens it. They may where
// nobody but its own users can submit jobs, so that a first try works without a setting: the process serves its API on
// loopback to whoever calls, without tokens. It ends with the first token, and with the first request that came through
// a proxy: from then on others may submit, and addresses of this machine are opened by BELFRY_WEBHOOK_ALLOW only. Safe
// for concurrent use.
type ThisMachine struct {
	tokens TokenLister
	log    *slog.Logger
	now    func() time.Time

	mu      sync.Mutex
	shut    string    // why it is not open any more; "" while it is
	checked time.Time // when tokens were looked for
}

// TokenLister is what ThisMachine asks of a store.
type TokenLister interface {
	ListTokens(ctx context.Context, after string, limit int) ([]core.Token, error)
}

const (
	tokensEvery   = time.Second // how old the answer that there are no tokens may become
	tokensTimeout = 2 * time.Second
)

// machineNames are this machine in an allow-list.
var machineNames = []string{"127.0.0.0/8", "::1", "localhost"}

// Open reports whether this machine may be reached. While the store does not answer nobody can have made a token.
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

// proxyHeaders are set by proxies on what they pass on.
var proxyHeaders = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix", "X-Forwarded-Port", "X-Real-Ip"}

// Watch passes requests on to next, and notes the first that came through a proxy before it does.
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
