package webhook

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belfry-dev/belfry/core"
)

// A known message gets the same signature as from the specification's own libraries.
func TestSignatureOfAKnownMessage(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	s, err := newSigner([]string{secret})
	if err != nil {
		t.Fatal(err)
	}
	id, at, body := "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 999), []byte(`{"test": 2432232314}`)
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got, _, _ := strings.Cut(s.sign(id, at, body, "", "test"), " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	library, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := library.Sign(id, at, body); err != nil || got != want {
		t.Errorf("the library says %s, %v", got, err)
	}
}

// During a rotation, receivers with the old and with the new secret both verify deliveries. Other secrets and changed
// deliveries fail.
func TestRotationVerifiesWithEachSecret(t *testing.T) {
	old, fresh := secretOf(bytes.Repeat([]byte("o"), 24)), secretOf(bytes.Repeat([]byte("n"), 64))
	s, err := newSigner([]string{fresh, old})
	if err != nil {
		t.Fatal(err)
	}
	body, now := []byte(`{"a":"é\u0001"}`), time.Now()
	header := func(id string, at time.Time, body []byte) http.Header {
		h := http.Header{}
		h.Set("webhook-id", id)
		h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
		h.Set("webhook-signature", s.sign(id, at, body, "", "a"))
		return h
	}
	for secret, good := range map[string]bool{old: true, fresh: true, testSecret: false} {
		verifier, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify(body, header("1", now, body)); (err == nil) != good {
			t.Errorf("good %t: %v", good, err)
		}
		moved := header("1", now, body)
		moved.Set("webhook-id", "2")
		later := header("1", now, body)
		later.Set("webhook-timestamp", strconv.FormatInt(now.Unix()+1, 10))
		for name, refused := range map[string]error{
			"another body": verifier.Verify([]byte(`{}`), header("1", now, body)), "another id": verifier.Verify(body, moved),
			"another time": verifier.Verify(body, later), "a replay": verifier.Verify(body, header("1", now.Add(-6*time.Minute), body)),
		} {
			if refused == nil {
				t.Errorf("%s verifies", name)
			}
		}
	}
}

func TestSecretsAreCheckedAndNeverQuoted(t *testing.T) {
	bytesOf := func(n int) string { return secretOf(bytes.Repeat([]byte("c"), n)) }
	canary := base64.StdEncoding.EncodeToString([]byte("canary canary canary canary canary"))
	for _, bad := range []string{
		"", "whsec_", bytesOf(23), bytesOf(65), canary, "WHSEC_" + canary, "whsec_" + strings.TrimRight(canary, "="), "whsec_" + canary + "\n", "whsec_!" + canary,
		"whpk_" + canary, " whsec_" + canary,
	} {
		_, err := newSigner([]string{testSecret, bad})
		if err == nil || !strings.Contains(err.Error(), "secret 2 of 2") || strings.Contains(err.Error(), canary[:8]) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, n := range []int{24, 64} {
		if _, err := newSigner([]string{bytesOf(n)}); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := newSigner(make([]string, maxSecrets+1)); err == nil {
		t.Error("too many secrets were taken")
	}
}

// This checks who can verify which delivery. A tenant's deliveries are signed with the secrets derived for it and its types.
// Deliveries without a tenant are signed with the secret itself and with the one derived for their type. No other secret verifies
// them, and the secrets of one tenant, type or installation cannot forge deliveries for another.
func TestEachScopeHasItsSecret(t *testing.T) {
	other := secretOf(bytes.Repeat([]byte("o"), 32))
	scopes := [][2]string{
		{"", ""}, {"acme", ""}, {"zeta", ""}, {"", "invoice.send"}, {"", "mail"}, {"", core.AlertType}, {"acme", "invoice.send"}, {"acme", "mail"}, {"acme", core.AlertType},
		{"zeta", "invoice.send"}, {"invoice.send", ""}, {"acme%", ""}, {"ac me", ""}, {"Ärzte 队列", "mail"},
	}
	deliveries := [][2]string{
		{"", "invoice.send"}, {"", "mail"}, {"", core.AlertType}, {"acme", "invoice.send"}, {"acme", "mail"}, {"zeta", "invoice.send"}, {"zeta", "mail"},
		{"acme%", "mail"}, {"ac me", "mail"}, {"ac%20me", "mail"}, {"Ärzte 队列", "mail"}, {"invoice.send", "acme"},
	}
	s, err := newSigner([]string{other, testSecret})
	if err != nil {
		t.Fatal(err)
	}
	body, now := []byte(`{}`), time.Now()
	for _, d := range deliveries {
		h := http.Header{}
		h.Set("webhook-id", "msg_x_1")
		h.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
		h.Set("webhook-signature", s.sign("msg_x_1", now, body, d[0], d[1]))
		for _, scope := range scopes {
			secret, err := DeriveSecret(testSecret, scope[0], scope[1])
			if err != nil {
				t.Fatal(err)
			}
			verifier, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			want := scope[0] == d[0] && (scope[1] == "" || scope[1] == d[1])
			if got := verifier.Verify(body, h) == nil; got != want {
				t.Errorf("a delivery of tenant %q and type %q verifies by the secret of tenant %q and type %q: %t", d[0], d[1], scope[0], scope[1], got)
			}
		}
	}
	for _, bad := range []string{"", "whsec_", "canary"} {
		if got, err := DeriveSecret(bad, "acme", ""); err == nil || got != "" || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %q, %v", bad, got, err)
		}
	}
}
