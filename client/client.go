package client

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Options configure a client. The zero value is ready to use.
type Options struct {
	Token      string       // sent as a bearer token. Zero means none
	HTTPClient *http.Client // makes the requests; its redirects are not followed. Nil means one with bounded dials and idle connections
	UserAgent  string       // Zero means "belfry-go"
	Retry      Retry
}

// Retry configures how often a call is retried, and the waits.
type Retry struct {
	Tries   int            // tries of one call, the first included; 1 means no retry. Zero means 5
	MinWait time.Duration  // before the second try; it doubles from there. Zero means 100 ms
	MaxWait time.Duration  // bounds every wait; a Retry-After beyond it ends the call with the server's answer. Zero means 30 s
	Timeout time.Duration  // of one try, without ?wait=. Zero means 75 s, longer than the server's own limit
	Chance  func() float64 // places the jitter, 0 … 1. Nil means math/rand
}

// Client calls one server. It is safe for concurrent use.
type Client struct {
	base string // without a slash at the end
	host string // of base, for messages
	opts Options
	http *http.Client
}

// New returns a client of the API at an address such as "https://belfry.example" or "http://127.0.0.1:8080"; see
// BaseAddress. The address must have no user, password, query or fragment; use Options.Token for access.
func New(address string, opts Options) (*Client, error) {
	u, err := url.Parse(BaseAddress(address))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("client: the address must be an http or https URL with a host")
	case u.User != nil:
		return nil, errors.New("client: the address must not hold a user or password; use a token")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("client: the address must not have a query or a fragment")
	}
	if fault := core.TokenTextFault(opts.Token); fault != "" {
		return nil, fmt.Errorf("client: the token %s", fault)
	}
	r := &opts.Retry
	if r.Tries < 0 || r.MinWait < 0 || r.MaxWait < 0 || r.Timeout < 0 {
		return nil, errors.New("client: options are never negative")
	}
	zero(&r.Tries, 5)
	zero(&r.MinWait, 100*time.Millisecond)
	zero(&r.MaxWait, 30*time.Second)
	zero(&r.Timeout, 75*time.Second)
	if r.Chance == nil {
		r.Chance = rand.Float64
	}
	if opts.UserAgent == "" {
		opts.UserAgent = "belfry-go"
	}
	return &Client{base: u.String(), host: u.Host, opts: opts, http: httpClient(opts.HTTPClient)}, nil
}

// pages are addresses of pages of the API that people copy instead of its base address.
var pages = []string{"/v1", "/docs", "/openapi.json", "/metrics"}

// BaseAddress returns the base address of calls: the given one without a slash at the end, and without a copied page of the
// API, such as /v1. If Belfry is served below a path that ends like such a page, write it twice:
// "https://gateway.example/v1/v1".
func BaseAddress(address string) string {
	address = strings.TrimRight(address, "/")
	for _, page := range pages {
		if base, cut := strings.CutSuffix(address, page); cut && !strings.HasSuffix(base, "/") {
			return base
		}
	}
	return address
}

func zero[T int | time.Duration](option *T, value T) {
	if *option == 0 {
		*option = value
	}
}

// httpClient returns a copy of given that follows no redirects: a redirected request may lose its method, body or token.
func httpClient(given *http.Client) *http.Client {
	c := http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   32,
		ForceAttemptHTTP2:     true,
	}}
	if given != nil {
		c = *given
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}
