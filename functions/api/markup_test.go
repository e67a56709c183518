package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Texts that are markup elsewhere come back as data. Every answer says what it is and that nobody may guess
// otherwise (checkAnswer), and what a request repeats to its sender holds no markup at all.
func TestMarkupIsData(t *testing.T) {
	b := newBench(t, delivering)
	for _, text := range []string{`<img src=x onerror=alert(1)>`, `" onmouseover="alert(1)`, `</script><script>alert(1)</script>`, `javascript:alert(1)`} {
		quoted := strings.ReplaceAll(text, `"`, `\"`)
		a := b.do("POST", "/v1/jobs", `{"type":"hook","payload":{"a":"`+quoted+`"},"tenant":"`+quoted+`","dedupe_key":"`+quoted+`","tags":["`+quoted+`"]}`).want(t, http.StatusCreated)
		if got := a.header.Get("Content-Type"); got != "application/json" || !strings.Contains(a.body, `"tags":["`+quoted+`"]`) {
			t.Errorf("%s: %s", got, a.body)
		}
		for _, target := range []string{"/v1/jobs/" + url.PathEscape(text), "/v1/types/" + url.PathEscape(text), "/v1/jobs?" + url.QueryEscape(text) + "=1", "/v1/jobs?cursor=" + url.QueryEscape(text)} {
			got := b.do("GET", target, "")
			if got.status < 400 || got.header.Get("Content-Type") != "application/problem+json" || strings.ContainsAny(got.body, "<>") {
				t.Errorf("%s: %d %s", target, got.status, got.body)
			}
		}
		b.do("PUT", "/v1/types/hook", `{"target":{"url":"`+quoted+`"}}`).want(t, 422)
		b.do("PUT", "/v1/types/hook", `{"`+quoted+`":1}`).want(t, 422)
	}
}
