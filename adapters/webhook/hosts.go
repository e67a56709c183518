package webhook

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// allowSetting is the setting for GuardOptions.Allow in Belfry's programs, for error texts.
const allowSetting = "BELFRY_WEBHOOK_ALLOW"

// localNames are suffixes of names that are never public hosts: loopback (RFC 6761), multicast DNS (RFC 6762), home networks
// (RFC 8375), ICANN's private zone, which clouds use for metadata servers, and names that many systems add to localhost.
var localNames = []string{".localhost", ".localdomain", ".local", ".internal", ".home.arpa", ".in-addr.arpa", ".ip6.arpa"}

// checkHost checks the host of u and, unless the allow-list contains the host, its port.
func (g *Guard) checkHost(u *url.URL) error {
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") || strings.Contains(host, ":") {
		return g.checkLiteral(u, host)
	}
	if endsInNumber(host) {
		// Resolvers and libc read these as IPv4 addresses in another spelling: 2130706433, 0x7f.1, 127.1, 0177.0.0.1.
		return g.checkLiteral(u, host)
	}
	if err := checkName(host); err != nil {
		return &RefusedError{"the URL's host " + err.Error()}
	}
	if g.trusts(host) {
		return checkPortRange(u)
	}
	if isLocalName(host) {
		return refuse("the URL's host is a name of the local network, and none that %s opens", allowSetting)
	}
	return g.checkPort(u)
}

func (g *Guard) checkLiteral(u *url.URL, host string) error {
	addr, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return refuse("the URL's host must be a name or an address in its usual spelling (four decimal numbers, or IPv6 in brackets)")
	case addr.Zone() != "":
		return refuse("the URL's host must not name an IPv6 zone")
	case addr.Is4In6():
		return refuse("the URL's host must be written as the IPv4 address it holds")
	}
	if g.judge(addr) != nil {
		return refuse("the URL's host is not a public address, nor one that %s opens", allowSetting)
	}
	if g.allows(addr) {
		return checkPortRange(u)
	}
	return g.checkPort(u)
}

// endsInNumber is the URL standard's test for a host that means an IPv4 address: its last label, ignoring a trailing dot, is
// all digits, or hexadecimal after 0x.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		last, digits = hex, "0123456789abcdef"
		if last == "" {
			return true
		}
	}
	return last != "" && strings.Trim(last, digits) == ""
}

// checkName accepts host names in DNS form: labels of ASCII letters, digits, - and _, up to 63 bytes each and 253 in total,
// without a trailing dot.
func checkName(host string) error {
	if len(host) > 253 {
		return errors.New("is longer than 253 characters")
	}
	if strings.HasSuffix(host, ".") {
		return errors.New("must not end in a dot")
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return errors.New("must have labels of 1 to 63 characters")
		}
		if label[0] == '-' || label[len(label)-1] == '-' {
			return errors.New("must not have labels that begin or end in -")
		}
		for i := range len(label) {
			c := label[i]
			if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
				continue
			}
			return errors.New("must be of letters, digits, dots and - (other scripts in their xn-- form)")
		}
	}
	return nil
}

// isLocalName reports whether a name must be local: it has one label, or ends in one of localNames.
func isLocalName(host string) bool {
	host = strings.ToLower(host)
	if !strings.Contains(host, ".") {
		return true
	}
	for _, zone := range localNames {
		if strings.HasSuffix(host, zone) {
			return true
		}
	}
	return host == "home.arpa"
}
