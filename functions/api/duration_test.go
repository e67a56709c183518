package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/functions/api/problem"
)

// Every field and parameter that is a duration, whoever adds it, says of one that is too long, or far below zero, which
// bounds it has: that it is no duration would be untrue, however much longer it is than Go can count.
func TestLongDurationsAreToldTheirBounds(t *testing.T) {
	b := newBench(t)
	running, lease := b.plant()
	doc := documentOf(t, b)
	fields := 0
	isDuration := func(s *openSchema) bool { return strings.Contains(s.Pattern, "µs") }
	try := func(op *openOperation, method, target, body, field string) {
		t.Helper()
		fields++
		got := b.do(method, target, body)
		p := decode[problem.Problem](t, got)
		if got.status != http.StatusUnprocessableEntity || len(p.Errors) == 0 || !strings.HasPrefix(p.Errors[0].Field, field) {
			t.Errorf("%s, %s: %d %s", op.OperationID, field, got.status, got.body)
			return
		}
		if rule := p.Errors[0].Rule; !strings.Contains(rule, "must lie between") && !strings.Contains(rule, "from 0s to") {
			t.Errorf("%s, %s: %q names no bounds", op.OperationID, field, rule)
		}
	}
	doc.each(func(method, path string, op *openOperation) {
		m := &maker{bench: b, doc: doc, op: op, method: method, path: path, running: running, lease: lease}
		for _, long := range []string{"9999999h", "99999999999999999999s", "-9999999h"} {
			for _, p := range op.Parameters {
				if p.In == "query" && isDuration(doc.find(p.Schema)) {
					try(op, method, m.target("", "")+"?"+p.Name+"="+long, m.body(), p.Name)
				}
			}
			if op.RequestBody == nil || op.OperationID == "submit-batch" {
				continue
			}
			good := map[string]json.RawMessage{}
			if err := json.Unmarshal([]byte(m.body()), &good); err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(op.OperationID, "-schedule") {
				delete(good, "time_zone") // means nothing with every
			}
			for name, s := range doc.find(op.RequestBody.Content["application/json"].Schema).Properties {
				s = doc.find(s)
				value := fmt.Sprintf("%q", long)
				if s.Items != nil {
					s, value = doc.find(s.Items), "["+value+"]"
				}
				if !isDuration(s) {
					continue
				}
				with := changed(good, name, value)
				if name == "every" {
					delete(with, "cron")
				}
				try(op, method, m.target("", ""), object(with, ""), name)
			}
		}
	})
	if fields < 3*15 {
		t.Errorf("only %d requests: is the pattern of durations another one?", fields)
	}
	t.Logf("%d requests about %d fields and parameters", fields, fields/3)
}
