package cloudruntest

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestTickEndsWithItsCall: a call whose caller is gone gives its leases up, long before its time is over; one with a body
// that no scheduler sends is refused.
func TestTickEndsWithItsCall(t *testing.T) {
	setting, _ := database(t)
	issuer := NewIssuer(t)
	f := start(t, "tick", append(callerSettings(issuer.Serve(t)), setting, "BELFRY_TICK_TIME=30m", "BELFRY_BUCKET_LEASE=10m")...)
	token := issuer.Token(t, nil)
	if got, err := f.post(t.Context(), "/tick", token, bytes.Repeat([]byte("x"), 100_000)); err != nil || got != 400 {
		t.Errorf("a long body: %d, %v", got, err)
	}
	conn, err := pgx.Connect(t.Context(), strings.TrimPrefix(setting, "BELFRY_DATABASE_URL="))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	held := func() (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM belfry.scheduler_leases WHERE expires_at > now()").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = f.post(ctx, "/tick", token, []byte("{}"))
	}()
	await(t, "the tick holds leases", func() bool { return held() > 0 })
	leave()
	<-gone
	await(t, "the leases are free", func() bool { return held() == 0 })
}
