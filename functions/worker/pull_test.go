package worker

import (
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host"
)

func TestVisibilityIsTheLease(t *testing.T) {
	for lease, want := range map[time.Duration]time.Duration{
		300 * time.Millisecond: time.Second, time.Minute: time.Minute, 90*time.Second + 1: 91 * time.Second, 10 * time.Minute: 10 * time.Minute, 11 * time.Minute: 0,
	} {
		got, err := Visibility(boot.Settings{Lease: lease}, 10*time.Minute)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%s: %s, %v", lease, got, err)
		}
	}
}

// A worker whose health address is in use says so before it says that it runs, and before it touches anything.
func TestAWorkerListensBeforeItRuns(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var log strings.Builder
	o := Options{Settings: boot.Settings{HealthAddr: taken.Addr().String()}, Log: slog.New(slog.NewTextHandler(&log, nil))}
	if err := serve(t.Context(), new(host.Host), o); err == nil || !strings.HasPrefix(err.Error(), "BELFRY_HEALTH_ADDR: ") || log.Len() > 0 {
		t.Errorf("%v\n%s", err, log.String())
	}
}
