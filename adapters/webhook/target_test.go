package webhook

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

func TestTargetsAreChecked(t *testing.T) {
	g := newGuard(t, GuardOptions{})
	for doc, field := range map[string]string{
		``: "target", `null`: "target.url", `{}`: "target.url", `[]`: "target", `"http://h.example/"`: "target", `{"url":1}`: "target", `{"url":"http://h.example/","x":1}`: "target",
		`{"url":"http://10.0.0.1/"}`: "target.url", `{"url":"http://h.example/","headers":{"":"x"}}`: "target.headers", `{"url":"http://h.example/","headers":{"a b":"x"}}`: "target.headers",
		`{"url":"http://h.example/","headers":{"a:b":"x"}}`: "target.headers", `{"url":"http://h.example/","headers":{"a":"x\r\ny: z"}}`: "target.headers",
		`{"url":"http://h.example/","headers":{"a":"é"}}`: "target.headers", `{"url":"http://h.example/","headers":{"a":1}}`: "target", `{"url":"http://h.example/","headers":{"é":"x"}}`: "target.headers",
		`{"url":"http://h.example/"}`: "", `{"url":"http://h.example/","headers":{"x-a":"b c","Authorization":"Bearer x"}}`: "", `{"url":"http://h.example/","headers":null}`: "",
	} {
		err := g.CheckTarget(json.RawMessage(doc))
		var broken *core.FieldError
		if field == "" && err != nil || field != "" && (!errors.As(err, &broken) || broken.Field != field) {
			t.Errorf("%s: %v, want a fault of %q", doc, err, field)
		}
	}
}

// A target cannot set the delivery's own headers, nor change how HTTP frames it.
func TestOwnHeadersAreNotTheTargets(t *testing.T) {
	names := append([]string{"webhook-id", "Webhook-Signature", "WEBHOOK-TIMESTAMP", "webhook-new", "belfry-lease-token", "Belfry-Anything"}, ownHeaders...)
	for _, name := range names {
		rule := checkHeader(name, "x")
		if !strings.Contains(rule, strings.ToLower(name)) {
			t.Errorf("%s: %q", name, rule)
		}
	}
}
