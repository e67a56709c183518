package boot

import (
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestHealthIsToldAndAsked(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Settings{HealthAddr: l.Addr().String()}
	if second, err := ListenHealth(t.Context(), s); err == nil || !strings.HasPrefix(err.Error(), "BELFRY_HEALTH_ADDR: ") {
		t.Errorf("an address in use: %v, %v", second, err)
	}
	var sick atomic.Bool
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- ServeHealth(ctx, l, func(context.Context) (any, bool) {
			if sick.Load() {
				return map[string]string{"reason": "the bulk queue is lost"}, false
			}
			return map[string]string{"status": "ok"}, true
		}, slog.New(slog.DiscardHandler))
	}()
	ask := func() (string, error) {
		var out strings.Builder
		err := AskHealth(t.Context(), s, &out)
		return out.String(), err
	}
	for deadline := time.Now().Add(30 * time.Second); ; {
		if said, err := ask(); err == nil {
			if said != "{\"status\":\"ok\"}\n" {
				t.Errorf("well: %s", said)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not answer")
		}
		<-time.After(10 * time.Millisecond)
	}
	sick.Store(true)
	if said, err := ask(); err == nil || !strings.Contains(said, "the bulk queue is lost") {
		t.Errorf("sick: %s, %v", said, err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := AskHealth(t.Context(), s, io.Discard); err == nil {
		t.Error("an answer from nobody")
	}
}
