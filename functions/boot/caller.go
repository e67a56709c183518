package boot

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// CheckCallers refuses to serve Google's services without the settings that name the callers.
func (s Settings) CheckCallers() error {
	if s.CallerAudience == "" || s.CallerAccount == "" {
		return errors.New("BELFRY_CALLER_AUDIENCE and BELFRY_CALLER_ACCOUNT: are not set, and say who is let in")
	}
	return nil
}

// checkCallers checks the settings about the callers of functions.
func (s Settings) checkCallers(bad tellFault) {
	u, err := url.Parse(s.CallerKeysURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		bad("BELFRY_CALLER_KEYS_URL", "want an https:// address; http:// is for a loopback address")
	}
	if s.CallerAccount != "" && !strings.Contains(s.CallerAccount, "@") {
		bad("BELFRY_CALLER_ACCOUNT", "want the e-mail address of a service account")
	}
	bad.within("BELFRY_PUSH_DEADLINE", s.PushDeadline, 10*time.Second, 10*time.Minute)
	bad.within("BELFRY_TICK_TIME", s.TickTime, 5*time.Second, 30*time.Minute)
	if s.MaxTimeout != 0 {
		bad.within("BELFRY_MOST_TIMEOUT", s.MaxTimeout, time.Second, 30*24*time.Hour)
	}
}

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
