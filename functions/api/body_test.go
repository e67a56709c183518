package api_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// utf16Of is a text in UTF-16, little or big endian.
func utf16Of(text string, big bool) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		low, high := byte(unit), byte(unit>>8)
		if big {
			low, high = high, low
		}
		b = append(b, low, high)
	}
	return string(b)
}

// TestEncodingOfBodiesIsNamed walks all operations that take a body: one that is not plain UTF-8 is refused by the name of
// what it is.
func TestEncodingOfBodiesIsNamed(t *testing.T) {
	b := newBench(t)
	running, lease := b.plant()
	doc, walked, rows := documentOf(t, b), 0, b.rows()
	doc.each(func(method, path string, op *openOperation) {
		if op.RequestBody == nil {
			return
		}
		walked++
		m := &maker{bench: b, doc: doc, op: op, method: method, path: path, running: running, lease: lease}
		body := m.body()
		for name, encoded := range map[string]string{
			"byte order mark": "\ufeff" + body, "UTF-16": utf16Of(body, false), "UTF-16 ": utf16Of(body, true), "UTF-16  ": utf16Of("\ufeff"+body, false), "UTF-16   ": utf16Of("\ufeff"+body, true),
			"UTF-32": "\xff\xfe\x00\x00{\x00\x00\x00", "gzip": "\x1f\x8b\x08\x00" + body, "no-break space (U+00A0)": "\u00a0" + body, "byte order mark (U+FEFF)": body + "\n\ufeff" + body,
			"not UTF-8": body[:1] + "\xe9" + body[1:], "curly quote": strings.Replace(body, "{", "{“", 1),
		} {
			got := b.do(method, m.target("", ""), encoded)
			if names := problemFields(t, got); got.status != http.StatusBadRequest || !slices.Contains(names, "body") || !strings.Contains(got.body, strings.TrimSpace(name)) {
				t.Errorf("%s in %s: %d %s", op.OperationID, name, got.status, got.body)
			}
		}
	})
	if b.rows() != rows || walked < 15 {
		t.Errorf("rows are changed, or only %d operations were walked", walked)
	}
	t.Logf("%d operations that take a body", walked)
}

// TestEmptyBodyOfUnknownLength walks all operations that take a body: one that is sent in chunks, of which there are none,
// is answered as one that is left out.
func TestEmptyBodyOfUnknownLength(t *testing.T) {
	b := newBench(t)
	running, lease := b.plant()
	server := httptest.NewServer(b.api)
	defer server.Close()
	send := func(method, target string, body io.Reader, kind string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+target, body)
		if err != nil {
			t.Fatal(err)
		}
		if kind != "" {
			r.Header.Set("Content-Type", kind)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	good := 0
	documentOf(t, b).each(func(method, path string, op *openOperation) {
		if op.RequestBody == nil {
			return
		}
		m := &maker{bench: b, op: op, method: method, path: path, running: running, lease: lease}
		target := m.target("", "")
		for _, kind := range []string{"", "application/json"} {
			want, said := send(method, target, nil, kind)
			status, text := send(method, target, struct{ io.Reader }{strings.NewReader("")}, kind)
			if status != want && (want >= 300 || status >= 300) {
				t.Errorf("%s %q: %d %s; left out it is %d %s", op.OperationID, kind, status, text, want, said)
			}
			if status < 300 {
				good++
			}
		}
		if status, text := send(method, target, struct{ io.Reader }{strings.NewReader(`{"colour":1}`)}, "application/json"); status != 422 || !strings.Contains(text, "colour") {
			t.Errorf("%s: a body in chunks is not read: %d %s", op.OperationID, status, text)
		}
	})
	if good < 6 {
		t.Errorf("only %d were accepted", good)
	}
}

// TestCharsetIsUTF8 by any of its names.
func TestCharsetIsUTF8(t *testing.T) {
	b := newBench(t)
	for kind, status := range map[string]int{
		"application/json; charset=utf-8": 201, "application/json; charset=UTF-8": 201, "application/json;charset=utf8": 201, `application/json; charset="UTF8"`: 201, "Application/JSON": 201,
		"application/json; charset=utf-16": 415, "application/json; charset=": 415, `application/json; charset=""`: 415, "application/json; charset=us-ascii": 415, "application/json; charset=utf8mb4": 415,
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/jobs", bytes.NewReader([]byte(`{"type":"echo"}`)))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		if b.api.ServeHTTP(w, r); w.Code != status {
			t.Errorf("%s: %d %s", kind, w.Code, w.Body)
		}
	}
}

// TestTimesAreWrittenAsRFC3339 walks all parameters and all fields that are times: t and z may be small, and a plus sign that
// a query does not encode is named. What is no time at all TestHostileInput tries.
func TestTimesAreWrittenAsRFC3339(t *testing.T) {
	b := newBench(t)
	b.plant()
	walked := 0
	doc := documentOf(t, b)
	doc.each(func(method, path string, op *openOperation) {
		m := &maker{bench: b, doc: doc, op: op, method: method, path: path}
		for _, p := range op.Parameters {
			if p.In != "query" || m.doc.find(p.Schema).Format != "date-time" {
				continue
			}
			walked++
			for _, good := range []string{"2030-03-01t12:00:00z", "2030-03-01T12:00:00.5%2B01:00", "2030-03-01T12:00:00-01:00"} {
				target := m.target("", "") + "?" + p.Name + "=" + good
				if method == "DELETE" {
					target += "&dry_run=true"
				}
				if got := b.do(method, target, ""); got.status != http.StatusOK && !strings.Contains(path, "{") {
					t.Errorf("%s: %d %s", target, got.status, got.body)
				}
			}
			got := b.do(method, m.target("", "")+"?"+p.Name+"=2030-03-01T12:00:00+01:00", "")
			if got.status != 422 || !strings.Contains(got.body, "%2B") || !slices.Contains(problemFields(t, got), p.Name) {
				t.Errorf("%s with a raw +: %d %s", op.OperationID, got.status, got.body)
			}
			if got := b.do(method, m.target("", "")+"?"+p.Name+"=2030-03-01T23:59:60Z", ""); got.status != 422 || !strings.Contains(got.body, "leap second") {
				t.Errorf("%s with a leap second: %d %s", op.OperationID, got.status, got.body)
			}
		}
	})
	if walked < 6 {
		t.Errorf("only %d parameters", walked)
	}
	for field, body := range map[string]string{"run_at": `{"type":"echo","run_at":"2030-03-01t12:00:00z"}`, "expires_at": `{"type":"echo","expires_at":"2030-03-01t12:00:00.25+01:00"}`} {
		if got := b.do("POST", "/v1/jobs", body); got.status != 201 {
			t.Errorf("%s: %d %s", field, got.status, got.body)
		}
	}
	if got := b.do("POST", "/v1/jobs", `{"type":"echo","run_at":"2030-12-31T23:59:60Z"}`); got.status != 422 || !strings.Contains(got.body, "leap second") {
		t.Errorf("%d %s", got.status, got.body)
	}
	t.Logf("%d parameters that are times", walked)
}
