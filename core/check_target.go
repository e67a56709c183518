package core

import (
	"encoding/json"
	"net/url"
	"strings"
)

// Bounds on a target.
const (
	MaxTargetBytes   = 16 << 10
	MaxTargetHeaders = 50
)

// checkTarget accepts {"url": …, "headers": {…}} with an absolute http or https URL. Which addresses may be
// reached is decided when one is dialled, not here: a name resolves to what it likes by then.
func checkTarget(errs *FieldErrors, target json.RawMessage) {
	if target == nil {
		return
	}
	if len(target) > MaxTargetBytes {
		errs.Add("target", "is %d bytes, at most %d are kept", len(target), MaxTargetBytes)
		return
	}
	facts, err := ScanJSON(target)
	if err != nil {
		errs.Add("target", "must be JSON: %s", err)
		return
	}
	checkStrings(errs, "target", facts)
	var t struct {
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	}
	decoder := json.NewDecoder(strings.NewReader(string(target)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&t); err != nil {
		errs.Add("target", `must be {"url": "https://...", "headers": {"name": "value"}} and nothing else`)
		return
	}
	if u, err := url.Parse(t.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		errs.Add("target.url", "must be an http or https URL with a host and without a user or password")
	}
	if len(t.Headers) > MaxTargetHeaders {
		errs.Add("target.headers", "are %d, at most %d are kept", len(t.Headers), MaxTargetHeaders)
	}
	for name, value := range t.Headers {
		if !validHeader(name, value) {
			errs.Add("target.headers", "must have names of letters, digits and - and values of visible ASCII")
			return
		}
	}
}

func validHeader(name, value string) bool {
	for i := range len(name) {
		if c := name[i]; !letter(c) && !digit(c) && c != '-' {
			return false
		}
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return name != ""
}
