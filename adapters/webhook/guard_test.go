package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// hostileURLs must be refused by their text alone (H03). None is ever dialled.
var hostileURLs = []string{
	// other spellings of IPv4
	"http://2130706433/", "http://0x7f000001/", "http://0x7f.1/", "http://127.1/", "http://127.0.1/", "http://0177.0.0.1/",
	"http://0/", "http://0x0/", "http://017700000001/", "http://127.0.0.1./", "http://127.0.0.0x1/", "http://3232235777/",
	"http://127.000.000.001/", "http://0x7F.0x0.0x0.0x1/", "http://1.2.3.4.5/", "http://256.256.256.256/", "http://0xa9fea9fe/",
	// addresses that are not public
	"http://127.0.0.1/", "http://127.255.255.254/", "http://0.0.0.0/", "http://0.1.2.3/", "http://10.0.0.5/", "http://172.16.0.1/",
	"http://172.31.255.255/", "http://192.168.1.1/", "http://169.254.169.254/latest/meta-data/", "http://169.254.170.2/",
	"http://100.64.0.1/", "http://100.100.100.200/", "http://192.0.0.192/", "http://192.0.2.1/", "http://198.18.0.1/",
	"http://198.51.100.1/", "http://203.0.113.9/", "http://224.0.0.1/", "http://239.255.255.250/", "http://240.0.0.1/",
	"http://255.255.255.255/", "http://168.63.129.16/", "http://192.88.99.1/",
	"http://[::1]/", "http://[::]/", "http://[0:0:0:0:0:0:0:1]/", "http://[fd00::1]/", "http://[fd00:ec2::254]/", "http://[fc00::]/",
	"http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://[2606:4700::1%25lo]/", "http://[fec0::1]/", "http://[ff02::1]/",
	"http://[100::1]/", "http://[2001:db8::1]/", "http://[3fff::1]/", "http://[5f00::1]/",
	// IPv4 inside IPv6
	"http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::ffff:8.8.8.8]/", "http://[::127.0.0.1]/", "http://[::7f00:1]/",
	"http://[::ffff:0:127.0.0.1]/", "http://[2002:7f00:1::]/", "http://[2002:a9fe:a9fe::1]/", "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
	"http://[64:ff9b::7f00:1]/", "http://[64:ff9b::169.254.169.254]/", "http://[64:ff9b:1::7f00:1]/", "http://[64:ff9b:1:fffe::10.0.0.1]/",
	"http://[2606:4700::5efe:7f00:1]/", "http://[2606:4700::200:5efe:a00:1]/",
	// local names
	"http://localhost/", "http://LOCALHOST/", "http://localhost./", "http://a.localhost/", "http://localhost.localdomain/", "http://redis/",
	"http://metadata.google.internal/", "http://printer.local/", "http://router.home.arpa/", "http://1.0.0.127.in-addr.arpa/",
	// names that are none
	"http://hooks.example.com./", "http://hooks..example.com/", "http://.example.com/", "http://-a.example.com/", "http://a b.example.com/",
	"http://①②⑦.⓪.⓪.①/", "http://127。0。0。1/", "http://ｌｏｃａｌｈｏｓｔ/", "http://b\u00fccher.example.com/", "http://%6c%6fcalhost/", "http://exa%00mple.com/",
	"http://" + strings.Repeat("a", 64) + ".example.com/", "http://" + strings.Repeat("a.", 127) + "example/",
	// users, schemes, ports, forms
	"http://user:pass@hooks.example.com/", "http://user@hooks.example.com/", "http://@hooks.example.com/", "http://hooks.example.com@127.0.0.1/",
	`http://hooks.example.com\@127.0.0.1/`, "http://127.0.0.1#@hooks.example.com/", "http://127.0.0.1?@hooks.example.com/",
	"ftp://hooks.example.com/", "file:///etc/passwd", "gopher://hooks.example.com/", "unix:///var/run/docker.sock", "javascript:alert(1)",
	"http://hooks.example.com/?a b", "http://hooks.example.com/?a\u00e9", "http://hooks.example.com/a b", "http://hooks.example.com/?a\tb",
	"//hooks.example.com/", "hooks.example.com", "http:hooks.example.com", "http:///", "http://", "", " http://hooks.example.com/", "http://hooks.example.com\r\n/",
	"http://hooks.example.com:22/", "http://hooks.example.com:0/", "http://hooks.example.com:65536/", "http://hooks.example.com:/",
	"http://hooks.example.com:080/", "http://hooks.example.com:http/", "http://hooks.example.com:-80/", "http://hooks.example.com:6379/", "https://8.8.8.8:25/",
	"http://hooks.example.com/" + strings.Repeat("a", maxURLBytes),
}

func TestHostileURLsAreRefusedAtEveryStage(t *testing.T) {
	if len(hostileURLs) < 40 {
		t.Fatalf("%d URLs", len(hostileURLs))
	}
	w, dialled := newDialess(t, GuardOptions{Resolver: startDNS(t).resolver()})
	for _, raw := range hostileURLs {
		t.Run(raw, func(t *testing.T) {
			var refused *RefusedError
			if err := w.guard.CheckURL(raw); !errors.As(err, &refused) {
				t.Errorf("CheckURL: %v", err)
			}
			if err := w.guard.CheckResolved(t.Context(), raw); !errors.As(err, &refused) {
				t.Errorf("CheckResolved: %v", err)
			}
			doc := targetOf(raw)
			var field *core.FieldError
			if err := w.guard.CheckTarget(doc); !errors.As(err, &field) || field.Field != "target.url" {
				t.Errorf("CheckTarget: %v", err)
			}
			if _, err := w.Work(t.Context(), &core.Job{ID: 1, Target: doc}); !core.IsPermanent(err) {
				t.Errorf("Work: %v", err)
			}
		})
	}
	if got := dialled(); len(got) > 0 {
		t.Errorf("dialled %v", got)
	}
}

// The dial is the last judge: what a text check would miss is refused there too.
func TestHostileAddressesAreRefusedAtTheDial(t *testing.T) {
	w, dialled := newDialess(t, GuardOptions{})
	tried := 0
	for _, raw := range hostileURLs {
		u, err := url.Parse(raw)
		if err != nil {
			continue
		}
		addr, err := netip.ParseAddr(u.Hostname())
		if err != nil || addr.Unmap() == netip.MustParseAddr("8.8.8.8") {
			continue
		}
		tried++
		var refused *RefusedError
		if _, err := w.guard.dialContext(t.Context(), "tcp", net.JoinHostPort(addr.String(), "80")); !errors.As(err, &refused) {
			t.Errorf("%s: %v", addr, err)
		}
		if err := w.guard.judge(addr); !errors.As(err, &refused) {
			t.Errorf("judge %s: %v", addr, err)
		}
	}
	if tried < 40 {
		t.Errorf("only %d addresses", tried)
	}
	if got := dialled(); len(got) > 0 {
		t.Errorf("dialled %v", got)
	}
}

func TestPublicURLsPass(t *testing.T) {
	g := newGuard(t, GuardOptions{})
	for _, raw := range []string{
		"https://hooks.example.com/", "http://hooks.example.com", "HTTPS://Hooks.Example.COM:443/a?b=c#d", "https://xn--bcher-kva.example.com/",
		"https://8.8.8.8/", "https://[2606:4700:4700::1111]:8443/", "http://a_b.example.com:8080/%20/", "https://1e100.net/", "https://0x.example.com/",
		"https://127.0.0.1.nip.example.com/", "https://internal.example.com/", "https://172.32.0.1/", "https://100.128.0.1/",
	} {
		if err := g.CheckURL(raw); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestAllowList(t *testing.T) {
	g := newGuard(t, GuardOptions{Allow: []string{"127.0.0.0/8", "10.1.2.3", "fd00:1::/32", "64:ff9b::/96", "hooks.internal", "*.corp.example", "localhost"}})
	for raw, allowed := range map[string]bool{
		"http://127.0.0.1:9999/": true, "http://10.1.2.3:1/": true, "http://10.1.2.4/": false, "http://[fd00:1::9]:3000/": true, "http://[fd00:2::9]/": false,
		"http://[64:ff9b::7f00:1]/": true, "http://hooks.internal:9000/": true, "http://Hooks.Internal/": true, "http://x.hooks.internal/": false,
		"http://a.corp.example:6379/": true, "http://a.b.corp.example/": true, "http://corp.example:6379/": false, "http://notcorp.example:6379/": false,
		"http://localhost:3000/": true, "http://localhost./": false, "http://u:p@localhost/": false, "http://localhost:70000/": false, "http://2130706433/": false,
	} {
		if err := g.CheckURL(raw); (err == nil) != allowed {
			t.Errorf("%s: %v, want allowed %t", raw, err, allowed)
		}
	}
	for _, bad := range []string{"", "10.0.0.0/33", "a b", "*.*.example", "http://x.example", "*", "::ffff:10.0.0.0/104", "host:80"} {
		if _, err := NewGuard(GuardOptions{Allow: []string{bad}}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", bad)) {
			t.Errorf("allow %q: %v", bad, err)
		}
	}
	if _, err := NewGuard(GuardOptions{Ports: []int{80, 70000}}); err == nil {
		t.Error("port 70000 was taken")
	}
}

// Refusals go into answers and error histories: they must not carry what a URL may hide.
func TestRefusalsTellNothing(t *testing.T) {
	g := newGuard(t, GuardOptions{})
	for _, raw := range []string{
		"http://user:canary@hooks.example.com/", "http://10.0.0.1/canary?canary#canary", "ftp://canary/canary", "http://hooks.example.com:22/?t=canary",
		"http://hooks.example.com\x7f/canary", "http://hooks.example.com:canary/",
	} {
		if err := g.CheckURL(raw); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func newGuard(t testing.TB, opts GuardOptions) *Guard {
	t.Helper()
	g, err := NewGuard(opts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// newDialess is a Webhook that notes the addresses it would connect to, and connects to none.
func newDialess(t testing.TB, opts GuardOptions) (w *Webhook, dialled func() []string) {
	t.Helper()
	g := newGuard(t, opts)
	seen := make(chan string, 100)
	g.connect = func(_ context.Context, _, address string, _ bool) (net.Conn, error) {
		seen <- address
		return nil, errors.New("no connections in this test")
	}
	return newWebhook(t, Options{Guard: g}), func() (all []string) {
		for {
			select {
			case address := <-seen:
				all = append(all, address)
			default:
				return all
			}
		}
	}
}
