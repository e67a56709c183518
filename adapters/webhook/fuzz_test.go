package webhook

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// FuzzCheckURL compares the guard with independent checks: the standard library's classes of addresses, the C library's
// parsing of numbers, and the host that an HTTP client would connect to.
func FuzzCheckURL(f *testing.F) {
	for _, raw := range hostileURLs(f) {
		f.Add(raw)
	}
	f.Add("https://hooks.example.com:8443/a?b#c")
	f.Add("https://[2606:4700:4700::1111]/")
	g := newGuard(f, GuardOptions{})
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := g.parse(raw)
		if err != nil {
			var refused *RefusedError
			if !errors.As(err, &refused) || refused.Rule == "" || len(refused.Rule) > 300 {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		req, err := http.NewRequest(http.MethodPost, u.String(), nil)
		if err != nil {
			t.Fatalf("%q passes and makes no request: %v", raw, err)
		}
		if req.URL.Host != u.Host || req.URL.User != nil || req.URL.Scheme != u.Scheme {
			t.Fatalf("%q: the request goes to %q, the guard saw %q", raw, req.URL.Host, u.Host)
		}
		if again := g.CheckURL(req.URL.String()); again != nil {
			t.Fatalf("%q passes, %q does not: %v", raw, req.URL, again)
		}
		host := strings.ToLower(u.Hostname())
		if port := portOf(u); !slices.Contains([]int{80, 443, 8080, 8443}, port) {
			t.Fatalf("%q: port %d", raw, port)
		}
		if addr, err := netip.ParseAddr(host); err == nil {
			if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.Is4In6() || addr.Zone() != "" {
				t.Fatalf("%q: address %s", raw, addr)
			}
			return
		}
		labels := strings.Split(host, ".")
		last := labels[len(labels)-1]
		hex, isHex := strings.CutPrefix(last, "0x")
		_, notHex := strconv.ParseUint(hex, 16, 64)
		_, notDecimal := strconv.ParseUint(last, 10, 64)
		if isHex && notHex == nil || notDecimal == nil || len(labels) < 2 {
			t.Fatalf("%q: %q may be read as a number, or as a near name", raw, host)
		}
		if slices.Contains([]string{"localhost", "internal", "local", "localdomain"}, last) {
			t.Fatalf("%q: a local name", raw)
		}
		if net.ParseIP(host) != nil || strings.ContainsAny(host, "%@:/\\ ") {
			t.Fatalf("%q: host %q", raw, host)
		}
	})
}

// FuzzOpen checks that only minted tokens open, and that an opened token is minted the same again.
func FuzzOpen(f *testing.F) {
	l := newLeases(f, "a")
	f.Add("blt1_AAAA")
	f.Fuzz(func(t *testing.T, token string) {
		if ref, err := l.Open(t.Context(), token); err == nil && l.Mint(t.Context(), ref) != token {
			t.Fatalf("%q opens as %+v", token, ref)
		}
	})
}
