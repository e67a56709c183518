package api_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
)

// hidden stands in everything of the other tenant that no request of the walk holds: payloads, results, tags, texts of
// errors, dedupe keys, idempotent answers. An answer with it has leaked.
const hidden = "hidden-w7Qk"

// TestWalkAsAnotherTenant goes through every operation of the served document with a tenant's token of the highest role
// and whatever belongs to another tenant: ids of its jobs in every state, its filters, cursors, idempotency keys, lease
// tokens, token ids, groups. It finds nothing of the other, changes nothing of it, and is answered as if the other
// were not there. Operations that are added to the document are walked without being named here; one that has a
// parameter or a field nobody told the walk about fails it.
func TestWalkAsAnotherTenant(t *testing.T) {
	b := newBench(t)
	admin := b.keep(core.Token{Role: core.RoleAdmin})
	other := b.keepTenant(t, "globex")
	mine := b.keepTenant(t, "acme")
	if seen := b.everythingOf(admin, other); strings.Count(seen, hidden) < 10 {
		t.Fatalf("an admin sees too little for the walk to prove anything: %s", seen)
	}
	if seen := b.everythingOf(other.token, other); strings.Count(seen, hidden) < 10 {
		t.Fatalf("its own token sees too little: %s", seen)
	}
	before := b.everythingOf(admin, other)

	var walked []string
	doc := decode[openDoc](t, b.as(mine.token, "GET", "/openapi.json", "").want(t, http.StatusOK))
	for path, methods := range doc.Paths {
		for method, op := range methods {
			w := &stroll{bench: b, doc: &doc, op: op, method: strings.ToUpper(method), path: path, mine: mine, other: other}
			if w.run(t) {
				walked = append(walked, op.OperationID)
			} else {
				t.Errorf("%s was not walked", op.OperationID)
			}
		}
	}
	if slices.Sort(walked); !slices.Equal(walked, api.NeededOperations()) {
		t.Errorf("walked were\n%v, but what there is, is\n%v: serve all of it in newBench", walked, api.NeededOperations())
	}
	if after := b.everythingOf(admin, other); after != before {
		t.Errorf("the walk changed something of the other tenant; before\n%s\nafter\n%s", before, after)
	}
}

// stroll is the walk through one operation.
type stroll struct {
	*bench
	doc          *openDoc
	op           *openOperation
	method, path string
	mine, other  *tenant
	statuses     map[int]int
}

// run makes all requests of the operation and reports whether they got beyond its validation.
func (w *stroll) run(t *testing.T) bool {
	w.statuses = map[int]int{}
	for _, query := range w.queries(t) {
		for _, body := range w.bodies(t) {
			for _, header := range w.headers(t) {
				for _, path := range w.paths(t) {
					w.visit(t, path, query, body, header)
				}
			}
		}
	}
	if len(w.statuses) == 0 {
		return false
	}
	reached := false
	for status := range w.statuses {
		reached = reached || status < 300 || status == http.StatusForbidden || status == http.StatusNotFound || status == http.StatusConflict
	}
	if !reached {
		t.Errorf("%s: no request got beyond its validation: %v", w.op.OperationID, w.statuses)
	}
	if w.path != "/healthz" && w.path != "/readyz" && w.op.Security != nil && len(w.op.Security) > 0 {
		if got := w.raw(w.method, strings.NewReplacer("{id}", "1", "{type}", "a", "{name}", "a").Replace(w.path), ""); got.Code != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d", w.op.OperationID, got.Code)
		}
	}
	return true
}

// place is a path and the path that is the same but for naming what does not exist at all.
type place struct{ path, absent string }

// visit makes one request, and the same about what does not exist: the answers must be one.
func (w *stroll) visit(t *testing.T, at place, query, body string, header [2]string) {
	t.Helper()
	got := w.send(at.path+query, body, header)
	w.statuses[got.status]++
	sent := at.path + query + body + strings.Join(header[:], "")
	if leak := w.other.leakIn(got, sent); leak != "" {
		t.Errorf("%s %s %s: %d\nthe answer has %q of the other tenant: %s", w.method, at.path+query, body, got.status, leak, got.body)
	}
	if got.status >= 500 {
		t.Errorf("%s %s %s: %d %s", w.method, at.path+query, body, got.status, got.body)
	}
	if at.absent == "" {
		return
	}
	none := w.send(at.absent+query, body, header)
	if got.status < 400 || got.status != none.status || got.body != none.body || got.header.Get("Retry-After") != none.header.Get("Retry-After") {
		t.Errorf("%s %s %s\nof the other: %d %s\nof nobody:    %d %s", w.method, at.path+query, body, got.status, got.body, none.status, none.body)
	}
}

func (w *stroll) send(target, body string, header [2]string) Writer {
	headers := []string{}
	if header[0] != "" {
		headers = header[:]
	}
	return w.as(w.mine.token, w.method, target, body, headers...)
}

// paths are the operation's path with each id of the other in it.
func (w *stroll) paths(t *testing.T) []place {
	switch {
	case !strings.Contains(w.path, "{"):
		return []place{{w.path, ""}}
	case strings.HasPrefix(w.path, "/v1/jobs/{id}"):
		var places []place
		for _, id := range w.other.ids() {
			places = append(places, place{strings.Replace(w.path, "{id}", id, 1), strings.Replace(w.path, "{id}", "987654321", 1)})
		}
		return places
	case strings.HasPrefix(w.path, "/v1/tokens/{id}"):
		return []place{{strings.Replace(w.path, "{id}", w.other.tokenID, 1), strings.Replace(w.path, "{id}", "0123456789abcdef", 1)}}
	case strings.HasPrefix(w.path, "/v1/types/{type}"):
		return []place{{strings.Replace(w.path, "{type}", "globex.work", 1), strings.Replace(w.path, "{type}", "nobody.work", 1)}}
	case w.op.OperationID == "put-schedule" || w.op.OperationID == "plan-schedule": // a name is each tenant's own: the walker makes one of its own
		return []place{{strings.Replace(w.path, "{name}", "globex-put", 1), ""}}
	case strings.HasPrefix(w.path, "/v1/schedules/{name}"):
		return []place{{strings.Replace(w.path, "{name}", "globex-schedule", 1), strings.Replace(w.path, "{name}", "nobody-schedule", 1)}}
	}
	t.Errorf("%s: the walk does not know what stands in the path %s: tell it here", w.op.OperationID, w.path)
	return nil
}

// queries are no query, each parameter alone, and each beside the one that says all.
func (w *stroll) queries(t *testing.T) []string {
	queries := []string{""}
	all := slices.ContainsFunc(w.op.Parameters, func(p *openParam) bool { return p.Name == "all" })
	for _, p := range w.op.Parameters {
		if p.In != "query" {
			continue
		}
		for _, value := range w.other.value(t, w.op, p.Name) {
			queries = append(queries, "?"+query(p.Name, value))
			if all && p.Name != "all" {
				queries = append(queries, "?all=true&"+query(p.Name, value))
			}
		}
	}
	return queries
}

// headers are none, and each of the header parameters with what the other used.
func (w *stroll) headers(t *testing.T) [][2]string {
	headers := [][2]string{{}}
	for _, p := range w.op.Parameters {
		if p.In == "header" {
			for _, value := range w.other.value(t, w.op, p.Name) {
				headers = append(headers, [2]string{p.Name, value})
			}
		}
	}
	return headers
}

// leakIn returns what an answer holds of the tenant that the request did not hold.
func (o *tenant) leakIn(a Writer, sent string) string {
	text := a.body
	for name, values := range a.header {
		if name == "Etag" {
			continue // a version, which may look like an id
		}
		text += "\n" + name + ": " + strings.Join(values, ",")
	}
	for _, mark := range append(o.marks(), hidden) {
		if strings.Contains(text, mark) && !strings.Contains(sent, mark) {
			return mark
		}
	}
	for _, id := range o.ids() {
		if strings.HasPrefix(sent, "/v1/alerts") {
			break // alerts have ids of their own, and name no job
		}
		if strings.Contains(text, `"`+id+`"`) && !strings.Contains(sent, `"`+id+`"`) && !slices.Contains(strings.FieldsFunc(sent, isQueryMark), "after="+id) || a.header.Get("Location") == "/v1/jobs/"+id {
			return id
		}
	}
	return ""
}

// isQueryMark reports whether a rune stands between the parameters of a query.
func isQueryMark(r rune) bool { return r == '?' || r == '&' }

// everythingOf is all that a token sees of a tenant, as it stands.
func (b *bench) everythingOf(token string, o *tenant) string {
	b.t.Helper()
	var text strings.Builder
	for _, id := range o.ids() {
		text.WriteString(b.as(token, "GET", "/v1/jobs/"+id, "").want(b.t, http.StatusOK).body)
	}
	text.WriteString(b.as(token, "GET", "/v1/jobs?limit=1000&tenant="+o.name, "").want(b.t, http.StatusOK).body)
	text.WriteString(b.as(token, "GET", "/v1/dead-letters?limit=1000&tenant="+o.name, "").want(b.t, http.StatusOK).body)
	for _, path := range []string{"?limit=1000&", "/globex-schedule?", "/globex-put?", "/globex-schedule/occurrences?"} {
		if o.name == "globex" {
			text.WriteString(b.as(token, "GET", "/v1/schedules"+path+"tenant="+o.name, "").want(b.t, http.StatusOK).body)
		}
	}
	text.WriteString(b.as(token, "GET", "/v1/alerts?tenant="+o.name, "").want(b.t, http.StatusOK).body)
	return text.String()
}

// A ?wait on another tenant's job is answered at once, as for a job that does not exist.
func TestWaitForAnothersJob(t *testing.T) {
	b := newBench(t)
	other := b.keepTenant(t, "globex")
	mine := b.keepTenant(t, "acme")
	answered := make(chan *httptest.ResponseRecorder, 1)
	go func() {
		answered <- b.raw("GET", "/v1/jobs/"+strconv.FormatInt(other.scheduled, 10)+"?wait=60s", "", "Authorization", "Bearer "+mine.token)
	}()
	select {
	case got := <-answered:
		if got.Code != http.StatusNotFound || strings.Contains(got.Body.String(), hidden) {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	case <-t.Context().Done():
	}
}
