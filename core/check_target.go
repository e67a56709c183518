package core

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/core/jsonscan"
)

// Bounds on a target.
const (
	MaxTargetBytes    = 16 << 10
	MaxTargetURLBytes = 4 << 10
	MaxTargetHeaders  = 50
)

// checkTarget accepts {"url": …, "headers": {…}} with an absolute http or https URL. It does not check which address may be
// reached: a name may resolve to another address by the time of the delivery.
func checkTarget(errs *FieldErrors, target json.RawMessage) {
	if target == nil {
		return
	}
	if len(target) > MaxTargetBytes {
		errs.Add("target", "is %d bytes, at most %d are kept", len(target), MaxTargetBytes)
		return
	}
	facts, err := jsonscan.Scan(target)
	if err != nil {
		errs.Add("target", "must be JSON: %s", err)
		return
	}
	if facts.Nul >= 0 || facts.Lone >= 0 {
		checkStrings(errs, "target", facts)
		return
	}
	var t struct {
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	}
	if json.Unmarshal(target, &t) != nil || isNull(target) || !namesOnce(target, "url", "headers") {
		errs.Add("target", `must be {"url": "https://...", "headers": {"name": "value"}} and nothing else`)
		return
	}
	if len(t.URL) > MaxTargetURLBytes {
		errs.Add("target.url", "is %d bytes, at most %d are kept", len(t.URL), MaxTargetURLBytes)
	} else if !validTargetURL(t.URL) {
		errs.Add("target.url", "%s", targetURLRule(t.URL))
	}
	if len(t.Headers) > MaxTargetHeaders {
		errs.Add("target.headers", "are %d, at most %d are kept", len(t.Headers), MaxTargetHeaders)
	}
	names := make(map[string]bool, len(t.Headers))
	for name, value := range t.Headers {
		if !validHeader(name, value) {
			errs.Add("target.headers", "must have names of letters, digits and - and values of visible ASCII")
			return
		}
		names[strings.ToLower(name)] = true
	}
	if len(names) < len(t.Headers) {
		errs.Add("target.headers", "must name each header once; upper and lower case are the same")
	}
}

// targetURLRule is the rule that a URL breaks that is no target's. belfry.target_faults says the same.
func targetURLRule(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return "must be visible ASCII without spaces: percent-encode other characters, a space as %20"
	}
	for _, after := range strings.Split(text, "%")[1:] {
		if len(after) < 2 || strings.Trim(after[:2], "0123456789abcdefABCDEF") != "" {
			return "must have two hexadecimal digits after each %: write a percent sign as %25"
		}
	}
	return "must be an http or https URL with a host and without a user or password"
}

// namesOnce reports whether the members of an object have exactly these names, and no name is given twice or is null, in the
// object or an object inside. Otherwise readers would disagree about the document. A value that is no object has no members.
func namesOnce(object []byte, names ...string) bool {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return true
	}
	seen := map[json.Token]bool{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil || seen[name] || names != nil && !slices.Contains(names, name.(string)) {
			return false
		}
		seen[name] = true
		var value json.RawMessage
		if decoder.Decode(&value) != nil || isNull(value) || !namesOnce(value) {
			return false
		}
	}
	return true
}

func isNull(value []byte) bool { return string(bytes.TrimSpace(value)) == "null" }

// validTargetURL accepts an absolute http or https URL of visible ASCII whose host is a name or an address without a zone,
// as the SQL function belfry.is_target_url does.
func validTargetURL(text string) bool {
	if strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return false
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return false
	}
	if strings.HasPrefix(u.Host, "[") {
		return !strings.Contains(u.Host, "%")
	}
	for i := range len(u.Hostname()) {
		if c := u.Hostname()[i]; !letter(c) && !digit(c) && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return true
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
