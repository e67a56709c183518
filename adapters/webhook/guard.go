package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"code.dny.dev/ssrf"
)

// maxURLBytes is the maximum length of a target's URL.
const maxURLBytes = 4096

// GuardOptions are the settings of a Guard.
type GuardOptions struct {
	// Allow lists destinations beyond public addresses: CIDRs ("10.1.0.0/16"), addresses ("127.0.0.1"), host names
	// ("hooks.corp.example") and all names below a domain ("*.corp.example"). An allowed name may resolve to any address.
	// Allowed names and literal addresses may be reached on any port. Zero means none.
	Allow []string
	// AlsoAllow adds such destinations while While returns true; it is called each time. A nil While means never.
	AlsoAllow []string
	While     func() bool
	// Ports are the ports that a URL may name. Zero means 80, 443, 8080 and 8443.
	Ports []int
	// Resolver resolves names. Zero means net.DefaultResolver.
	Resolver *net.Resolver
	// DialTimeout bounds resolving a name and connecting to its addresses. Zero means 10 s.
	DialTimeout time.Duration
	// OnRefused is called with the refused address that a name resolved to, once a minute for each name. It must not block.
	// Nil means no call.
	OnRefused func(host string, address netip.Addr)
}

// Guard decides which URLs a job may be delivered to. The same Guard checks at create, change, test and delivery, so that no
// path is less strict. It is safe for concurrent use.
type Guard struct {
	public   *ssrf.Guardian
	allow    allowList
	also     allowList
	while    func() bool
	ports    []int
	resolver *net.Resolver
	timeout  time.Duration
	early    early
	refused  refusals
	connect  func(ctx context.Context, network, address string, trusted bool) (net.Conn, error)
}

// RefusedError says that the guard refuses a URL or an address, and by which rule. Its text contains no user, password, path
// or query of the URL, and no address.
type RefusedError struct{ Rule string }

func (e *RefusedError) Error() string { return e.Rule }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// allowList holds the destinations allowed beyond public addresses.
type allowList struct {
	networks []netip.Prefix
	names    map[string]bool
	suffixes []string // ".corp.example"
}

// NewGuard reads the allow-lists. The error names an entry that is neither a network nor a name.
func NewGuard(opts GuardOptions) (*Guard, error) {
	g := &Guard{
		while: opts.While, ports: opts.Ports, resolver: opts.Resolver, timeout: opts.DialTimeout,
		refused: refusals{told: opts.OnRefused},
	}
	if g.resolver == nil {
		g.resolver = net.DefaultResolver
	}
	if g.timeout == 0 {
		g.timeout = 10 * time.Second
	}
	if len(g.ports) == 0 {
		g.ports = []int{80, 443, 8080, 8443}
	}
	for _, port := range g.ports {
		if port < 1 || port > 65535 {
			return nil, fmt.Errorf("ports: %d is not a port; allowed are 1 to 65535", port)
		}
	}
	var err error
	if g.allow, err = newAllowList(opts.Allow); err != nil {
		return nil, err
	}
	if g.also, err = newAllowList(opts.AlsoAllow); err != nil {
		return nil, err
	}
	if g.while == nil {
		g.while = func() bool { return false }
	}
	g.public = ssrf.New(ssrf.WithAnyNetwork(), ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(azureHost))
	g.connect = g.dialer()
	return g, nil
}

// azureHost is Azure's virtual public address for metadata, DNS and health, reachable from every machine there.
var azureHost = netip.MustParsePrefix("168.63.129.16/32")

func parseNetwork(entry string) (netip.Prefix, bool) {
	if addr, err := netip.ParseAddr(entry); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), true
	}
	prefix, err := netip.ParsePrefix(entry)
	if err != nil || prefix.Addr().Is4In6() || prefix != prefix.Masked() { // 10.1.2.3/8 is a mistake, or means one machine
		return netip.Prefix{}, false
	}
	return prefix, true
}

func newAllowList(entries []string) (a allowList, err error) {
	a.names = map[string]bool{}
	for _, entry := range entries {
		if prefix, ok := parseNetwork(entry); ok {
			a.networks = append(a.networks, prefix)
		} else if err := a.addName(entry); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (a *allowList) addName(entry string) error {
	name, below := strings.CutPrefix(strings.ToLower(entry), "*.")
	if err := checkName(name); err != nil {
		return fmt.Errorf("allow: %q is neither a network (10.1.0.0/16) nor a host name (hooks.corp.example, *.corp.example): %w", entry, err)
	}
	if below {
		a.suffixes = append(a.suffixes, "."+name)
	} else {
		a.names[name] = true
	}
	return nil
}

func (a *allowList) trusts(host string) bool {
	host = strings.ToLower(host)
	return a.names[host] || slices.ContainsFunc(a.suffixes, func(s string) bool { return strings.HasSuffix(host, s) })
}

func (a *allowList) allows(addr netip.Addr) bool {
	return slices.ContainsFunc(a.networks, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// trusts reports whether a host name is on an allow-list.
func (g *Guard) trusts(host string) bool {
	return g.allow.trusts(host) || g.also.trusts(host) && g.while()
}

// CheckURL refuses a URL by its text alone: scheme, user, host in any unusual form, port, literal addresses. The error is a
// *RefusedError. An accepted name may still resolve to a refused address: see CheckResolved, and the dial, which checks
// again.
func (g *Guard) CheckURL(raw string) error {
	_, err := g.parse(raw)
	return err
}

func (g *Guard) parse(raw string) (*url.URL, error) {
	if len(raw) > maxURLBytes {
		return nil, refuse("the URL has %d bytes, at most %d are allowed", len(raw), maxURLBytes)
	}
	if strings.IndexFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return nil, refuse("the URL must be of visible ASCII; percent-encode other characters, write other scripts of a host as xn--")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, refuse("the URL must be an absolute http or https URL") // err quotes the URL
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, refuse("the URL's scheme must be http or https")
	}
	if u.User != nil {
		return nil, refuse("the URL must not hold a user or password; use a header")
	}
	if u.Opaque != "" || u.Host == "" {
		return nil, refuse("the URL must name a host after //")
	}
	if err := g.checkHost(u); err != nil {
		return nil, err
	}
	return u, nil
}

// checkPort accepts the ports that any URL may name.
func (g *Guard) checkPort(u *url.URL) error {
	if err := checkPortRange(u); err != nil {
		return err
	}
	if port := portOf(u); !slices.Contains(g.ports, port) {
		return refuse("the URL's port %d is not among the allowed ones", port)
	}
	return nil
}

// checkPortRange accepts any valid port.
func checkPortRange(u *url.URL) error {
	if strings.HasSuffix(u.Host, ":") {
		return refuse("the URL's port is empty")
	}
	if port := portOf(u); port < 1 || port > 65535 || strings.HasPrefix(u.Port(), "0") {
		return refuse("the URL's port must be 1 to 65535")
	}
	return nil
}

// portOf returns the port of a URL, or 0 if it is not a number.
func portOf(u *url.URL) int {
	switch {
	case u.Port() != "":
		port, _ := strconv.Atoi(u.Port())
		return port
	case u.Scheme == "http":
		return 80
	}
	return 443
}

// CheckResolved calls CheckURL, resolves the host and refuses it if any current address is refused. So callers learn early
// what the dial would refuse later. A name that does not resolve now is not refused.
func (g *Guard) CheckResolved(ctx context.Context, raw string) error {
	u, err := g.parse(raw)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	_, err = g.resolve(ctx, u.Hostname())
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused
	}
	return nil
}

// judge refuses an address that is not public, unless the allow-list contains it: loopback, private, link-local (the
// metadata servers of clouds), carrier NAT, multicast, reserved, documentation, benchmarking, unique local, and every form
// that embeds an IPv4 address in an IPv6 one. The library's table comes from IANA's special-purpose registries.
func (g *Guard) judge(addr netip.Addr) error {
	addr = addr.Unmap()
	if g.allows(addr) {
		return nil
	}
	if g.public.SafeAddr(addr) != nil || isISATAP(addr) {
		return refuse("the address is not public")
	}
	return nil
}

func (g *Guard) allows(addr netip.Addr) bool {
	return g.allow.allows(addr) || g.also.allows(addr) && g.while()
}

// isISATAP reports whether the address ends as in RFC 5214: 0000:5efe or 0200:5efe, then an IPv4 address.
func isISATAP(addr netip.Addr) bool {
	if !addr.Is6() {
		return false
	}
	b := addr.As16()
	return b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
