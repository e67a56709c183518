package webhook

import (
	"bytes"
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// target is the destination of one job.
type target struct {
	url     *url.URL
	headers map[string]string
}

// host returns the target's host and port in one spelling: the key of its breaker, and its name in errors.
func (t *target) host() string {
	return net.JoinHostPort(strings.ToLower(t.url.Hostname()), strconv.Itoa(portOf(t.url)))
}

// ownHeaders are set by the delivery or by HTTP itself. A target must not set them.
var ownHeaders = []string{
	"connection", "content-encoding", "content-length", "expect", "host", "keep-alive", "proxy-authenticate",
	"proxy-authorization", "proxy-connection", "te", "traceparent", "trailer", "transfer-encoding", "upgrade",
}

// CheckTarget refuses a target that no delivery may go to: by CheckURL for its URL, and for headers that a target must not
// set. The error is a *core.FieldError for "target", "target.url" or "target.headers".
func (g *Guard) CheckTarget(raw json.RawMessage) error {
	_, err := g.parseTarget(raw)
	return err
}

func (g *Guard) parseTarget(raw json.RawMessage) (*target, error) {
	if len(raw) == 0 {
		return nil, &core.FieldError{Field: "target", Rule: "must name a URL"}
	}
	var doc struct {
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&doc); err != nil {
		return nil, &core.FieldError{Field: "target", Rule: `must be {"url": "https://...", "headers": {"name": "value"}} and nothing else`}
	}
	u, err := g.parse(doc.URL)
	if err != nil {
		return nil, &core.FieldError{Field: "target.url", Rule: err.Error()}
	}
	for name, value := range doc.Headers {
		if rule := checkHeader(name, value); rule != "" {
			return nil, &core.FieldError{Field: "target.headers", Rule: rule}
		}
	}
	return &target{url: u, headers: doc.Headers}, nil
}

// checkHeader returns the rule that a header breaks, or "". It never quotes the value, which may be a secret.
func checkHeader(name, value string) string {
	lower := strings.ToLower(name)
	letters := "abcdefghijklmnopqrstuvwxyz0123456789-"
	if name == "" || strings.Trim(lower, letters) != "" || strings.IndexFunc(lower, func(r rune) bool { return !strings.ContainsRune(letters, r) }) >= 0 {
		return "must have names of letters, digits and -"
	}
	if strings.IndexFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
		return lower + " must have a value of visible ASCII"
	}
	if slices.Contains(ownHeaders, lower) || strings.HasPrefix(lower, "webhook-") || strings.HasPrefix(lower, "belfry-") {
		return lower + " is set by the delivery itself"
	}
	return ""
}
