package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/functions/api/problem"
)

// mayBeEmpty are the parameters of lists whose empty value asks for something that no other value asks for, as their
// descriptions say: what belongs to no tenant.
var mayBeEmpty = map[string]bool{
	"list-jobs tenant": true, "list-dead-letters tenant": true, "list-dead-letter-groups tenant": true, "discard-dead-letters tenant": true,
	"list-schedules tenant": true, "list-alerts tenant": true,
}

// TestNoParameterIsEmpty walks all query parameters of all operations of the served document: one that is given but empty
// is refused by its name, in each way of writing it, and changes nothing. It is never taken as left out: ?type=$TYPE of a
// script whose variable is not set asked for every type.
func TestNoParameterIsEmpty(t *testing.T) {
	b := newBench(t)
	running, lease := b.plant()
	doc, rows, parameters, requests := documentOf(t, b), b.rows(), 0, 0
	doc.each(func(method, path string, op *openOperation) {
		m := &maker{bench: b, doc: doc, op: op, method: method, path: path, running: running, lease: lease}
		for _, p := range op.Parameters {
			if p.In != "query" {
				continue
			}
			parameters++
			if key := op.OperationID + " " + p.Name; p.AllowEmptyValue != mayBeEmpty[key] || p.AllowEmptyValue && !strings.Contains(p.Description, "Empty:") {
				t.Errorf("%s: the document allows it to be empty: %t (%s)", key, p.AllowEmptyValue, p.Description)
			}
			if p.AllowEmptyValue {
				continue
			}
			good := goodText(m.doc.find(p.Schema))
			for _, query := range []string{p.Name + "=", p.Name, p.Name + "=&" + p.Name + "=" + good, p.Name + "=" + good + "&" + p.Name + "="} {
				requests++
				got := b.do(method, m.target("", "")+"?"+query, m.body())
				if names := problemFields(t, got); got.status != http.StatusUnprocessableEntity || !slices.Contains(names, p.Name) {
					t.Errorf("%s ?%s: %d %s", op.OperationID, query, got.status, got.body)
				}
			}
		}
	})
	if b.rows() != rows {
		t.Error("what was refused changed rows")
	}
	if parameters < 50 {
		t.Errorf("only %d parameters were walked", parameters)
	}
	t.Logf("%d query parameters of all operations, %d requests", parameters, requests)
}

func problemFields(t *testing.T, a Writer) (names []string) {
	t.Helper()
	if a.status < 400 {
		return nil
	}
	for _, e := range decode[problem.Problem](t, a).Errors {
		names = append(names, e.Field)
	}
	return names
}

// TestNoFieldIsEmpty walks all fields of all bodies of the served document: a text, list or object that is given but empty
// is refused by its name, but for those listed here, which say what an empty one means.
func TestNoFieldIsEmpty(t *testing.T) {
	b := newBench(t)
	running, lease := b.plant()
	doc, fields := documentOf(t, b), 0
	var taken []string
	doc.each(func(method, path string, op *openOperation) {
		if op.RequestBody == nil {
			return
		}
		m := &maker{bench: b, doc: doc, op: op, method: method, path: path, running: running, lease: lease}
		good := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(m.body()), &good); err != nil {
			t.Fatal(err)
		}
		for name, s := range doc.find(op.RequestBody.Content["application/json"].Schema).Properties {
			empty := map[any]string{"string": `""`, "array": "[]", "object": "{}"}[doc.find(s).Type]
			if empty == "" {
				continue
			}
			fields++
			got := b.do(method, m.target("", ""), object(changed(good, name, empty), ""))
			if got.status < 400 {
				taken = append(taken, fmt.Sprintf("%s %s", op.OperationID, name))
			} else if !slices.ContainsFunc(problemFields(t, got), func(f string) bool { return strings.HasPrefix(f, name) }) {
				t.Errorf("%s with %s %s: %d %s", op.OperationID, name, empty, got.status, got.body)
			}
		}
	})
	slices.Sort(taken)
	// No tags, and dead letters without a tenant: as their descriptions say, and as nothing else would be.
	if want := []string{"plan-schedule tags", "put-schedule tags", "redrive-dead-letters tenant", "submit-job tags"}; !slices.Equal(taken, want) {
		t.Errorf("taken though empty: %q", taken)
	}
	t.Logf("%d fields of all bodies", fields)
}
