package core_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func TestNewTokenIsReadBack(t *testing.T) {
	seen := map[string]bool{}
	for range 200 {
		text, id, hash, err := core.NewToken(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		parsed, again, ok := core.ParseToken(text)
		if !ok || parsed != id || again != hash || hash != sha256.Sum256([]byte(text)) {
			t.Fatalf("%q parses to %q, %t", text, parsed, ok)
		}
		if secret := strings.TrimPrefix(text, "belfry_"+id+"_"); len(id) < 12 || len(secret) < 43 || secret == text || seen[id] || seen[secret] {
			t.Fatalf("%q: id %q, secret of %d characters", text, id, len(secret))
		} else {
			seen[id], seen[secret] = true, true
		}
		if !core.ValidTokenID(id) || core.ValidTokenID(id+"x") || core.ValidTokenID(id[1:]) {
			t.Errorf("id %q", id)
		}
	}
}

// Bytes that would make some characters likelier than others are not used, and a source that fails makes no token.
func TestNewTokenDrawsFairly(t *testing.T) {
	source := bytes.Repeat([]byte{255, 254, 248, 0, 61, 62, 247}, 64)
	text, _, _, err := core.NewToken(bytes.NewReader(source))
	if err != nil || !strings.HasPrefix(text, "belfry_0z0z0z0z") {
		t.Errorf("%q, %v", text, err)
	}
	if text, _, _, err := core.NewToken(iotest.ErrReader(errors.New("dry"))); err == nil || text != "" {
		t.Errorf("a source that fails made %q", text)
	}
}

func TestParseTokenRefuses(t *testing.T) {
	text, id, _, err := core.NewToken(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"", "belfry_", "belfry__", id, strings.TrimPrefix(text, "belfry_"), "Belfry_" + text[7:], text + "x", text[:len(text)-1], text + " ", " " + text,
		strings.Replace(text, "_", "-", 2), text[:len(text)-1] + "é", text[:len(text)-1] + "\x00", text[:len(text)-1] + "_", "belfry_" + strings.Repeat("_", len(text)-7),
	} {
		if _, _, ok := core.ParseToken(bad); ok {
			t.Errorf("%q is taken for a token", bad)
		}
	}
}

func TestTokenMatchesAndExpires(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	token := core.Token{Hash: [32]byte{1, 31: 2}}
	other := token.Hash
	other[31] = 3
	if !token.Matches(token.Hash) || token.Matches(other) || token.Matches([32]byte{}) {
		t.Error("the comparison of hashes is wrong")
	}
	if token.Expired(now) {
		t.Error("a token without an end has expired")
	}
	token.ExpiresAt = now
	if !token.Expired(now) || token.Expired(now.Add(-time.Microsecond)) {
		t.Error("a token is good up to its end, and not at it")
	}
}

func TestRoles(t *testing.T) {
	roles := []core.Role{core.RoleRead, core.RoleSubmit, core.RoleAdmin}
	for i, has := range roles {
		for k, need := range roles {
			if has.Allows(need) != (i >= k) {
				t.Errorf("%s allows %s: %t", has, need, has.Allows(need))
			}
		}
		for _, odd := range []core.Role{"", "root", "Admin"} {
			if has.Allows(odd) || odd.Allows(has) || odd.Valid() {
				t.Errorf("the role %q counts for something", odd)
			}
		}
	}
}

func TestCheckToken(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	good := core.Token{Name: "deploy of shop", Role: core.RoleSubmit, Tenant: "Müller & Söhne", ExpiresAt: now.Add(time.Hour + 1)}
	if err := core.CheckToken(&good, now); err != nil || good.ExpiresAt != now.Add(time.Hour) {
		t.Errorf("%v, expires %s", err, good.ExpiresAt)
	}
	for field, change := range map[string]func(*core.Token){
		"name":       func(t *core.Token) { t.Name = "" },
		"role":       func(t *core.Token) { t.Role = "root" },
		"tenant":     func(t *core.Token) { t.Tenant = "a\nb" },
		"expires_at": func(t *core.Token) { t.ExpiresAt = now },
	} {
		bad := good
		change(&bad)
		var errs core.FieldErrors
		if !errors.As(core.CheckToken(&bad, now), &errs) || len(errs) != 1 || errs[0].Field != field {
			t.Errorf("%s: %v", field, errs)
		}
	}
	long := core.Token{Name: strings.Repeat("x", core.MaxTokenNameBytes+1), Role: core.RoleRead, Tenant: strings.Repeat("x", core.MaxTenantBytes+1)}
	var errs core.FieldErrors
	if errors.As(core.CheckToken(&long, now), &errs); len(errs) != 2 {
		t.Errorf("%v", errs)
	}
}

func TestAnswersArePackedAndRead(t *testing.T) {
	for _, body := range [][]byte{{}, []byte(`{"id":"1"}`), bytes.Repeat([]byte("x"), 2<<10), bytes.Repeat([]byte("x"), 2<<10+1), bytes.Repeat([]byte(`{"id":"1","type":"mail.send"},`), 10_000)} {
		packed, err := core.PackAnswer(body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := core.UnpackAnswer(packed); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%d bytes come back as %d, %v", len(body), len(got), err)
		}
		if len(body) > 10_000 && len(packed) > len(body)/20 {
			t.Errorf("%d bytes are packed into %d", len(body), len(packed))
		}
		for _, damaged := range [][]byte{nil, packed[:len(packed)/2], append([]byte("x"), packed...)} {
			if _, err := core.UnpackAnswer(damaged); err == nil {
				t.Error("a damaged answer is read")
			}
		}
	}
}

func TestIdempotencyKeysAreVisibleASCII(t *testing.T) {
	for key, ok := range map[string]bool{
		"": false, "a": true, "~!\"'\\": true, "a b": false, "a\t": false, "é": false, "\x00": false, "\x7f": false,
		strings.Repeat("k", core.MaxIdempotencyKeyBytes): true, strings.Repeat("k", core.MaxIdempotencyKeyBytes+1): false,
	} {
		if core.ValidIdempotencyKey(key) != ok {
			t.Errorf("%q: %t", key, !ok)
		}
	}
}
