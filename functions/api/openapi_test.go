package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	verrors "github.com/pb33f/libopenapi-validator/errors"

	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// contract is the API's own document as a validator. All APIs of these tests have the same document.
var contract struct {
	once sync.Once
	validator.Validator
	errs []error
}

func contractOf(t testing.TB, a *api.API) validator.Validator {
	t.Helper()
	contract.once.Do(func() {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequest("GET", "/openapi.json", nil))
		doc, err := libopenapi.NewDocument(closed(t, w.Body.Bytes()))
		if err != nil {
			contract.errs = append(contract.errs, err)
			return
		}
		contract.Validator, contract.errs = validator.NewValidator(doc)
	})
	if len(contract.errs) > 0 {
		t.Fatal(contract.errs)
	}
	return contract.Validator
}

// closed is the document with no object that takes fields beyond those described: clients must let answers have
// more, the API must not send more.
func closed(t testing.TB, document []byte) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	for _, s := range doc["components"].(map[string]any)["schemas"].(map[string]any) {
		s := s.(map[string]any)
		if _, said := s["additionalProperties"]; !said && s["properties"] != nil {
			s["additionalProperties"] = false
		}
	}
	document, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// checkAnswer holds one exchange against the document: what was accepted must be what the document describes,
// and so must every answer. The headers every answer carries are checked too.
func checkAnswer(t testing.TB, a *api.API, r *http.Request, sent string, got Writer) {
	t.Helper()
	if got.header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(got.header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%s: headers %v", r.URL.Path, got.header)
	}
	if got.status >= 400 {
		checkProblem(t, got)
	}
	if strings.HasPrefix(r.URL.Path, "/docs") || r.URL.Path == "/openapi.json" || got.status == http.StatusMethodNotAllowed ||
		strings.Contains(got.body, "there is nothing at this path") {
		return
	}
	if !decodable(sent) || !decodable(got.body) {
		return // the validator knows no number beyond float64
	}
	v := contractOf(t, a)
	again := r.Clone(t.Context())
	again.Body = io.NopCloser(strings.NewReader(sent))
	if got.status < 300 && !strings.Contains(got.body, `{"error":{"type":`) { // a batch is accepted around bad items
		if ok, errs := v.ValidateHttpRequest(again); !ok {
			t.Errorf("%s %s was accepted, but the document says: %s", r.Method, r.URL.Path, tell(errs))
		}
	}
	again.Body = io.NopCloser(strings.NewReader(sent))
	response := &http.Response{StatusCode: got.status, Header: got.header, Body: io.NopCloser(strings.NewReader(got.body)), Request: again}
	if ok, errs := v.ValidateHttpResponse(again, response); !ok {
		t.Errorf("%s %s answered %d %.300s, but the document says: %s", r.Method, r.URL.Path, got.status, got.body, tell(errs))
	}
}

// decodable reports whether JSON, if it is JSON, has only numbers that a float64 can hold.
func decodable(text string) bool {
	var v any
	var number *json.UnmarshalTypeError
	return !errors.As(json.Unmarshal([]byte(text), &v), &number)
}

// checkProblem holds an answer against RFC 9457 and against what must never be in one.
func checkProblem(t testing.TB, got Writer) {
	t.Helper()
	var p problem.Problem
	decoder := json.NewDecoder(strings.NewReader(got.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil || got.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%v: no problem document: %q", err, got.body)
		return
	}
	if p.Type != "about:blank" || p.Status != got.status || p.Title != http.StatusText(got.status) || p.Detail == "" {
		t.Errorf("problem %+v of an answer with status %d", p, got.status)
	}
	for _, inside := range []string{"sqlite", "postgres", "INSERT INTO", " FROM belfry", "WHERE ", "goroutine", ".go:", "json:", "/tmp/"} {
		if strings.Contains(got.body, inside) {
			t.Errorf("the problem speaks of the inside: %s", got.body)
		}
	}
}

func tell(errs []*verrors.ValidationError) string {
	var b strings.Builder
	for _, e := range errs {
		b.WriteString(e.Message + " " + e.Reason + "; ")
		for _, s := range e.SchemaValidationErrors {
			b.WriteString(s.FieldPath + " " + s.Reason + "; ")
		}
	}
	return b.String()
}

func TestDocumentIsValid(t *testing.T) {
	b := newBench(t)
	a := b.do("GET", "/openapi.json", "").want(t, http.StatusOK)
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	if ok, errs := contractOf(t, b.api).ValidateDocument(); !ok {
		t.Error(tell(errs))
	}
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string `json:"operationId"`
		}
	}
	if err := json.Unmarshal([]byte(a.body), &doc); err != nil || !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Fatalf("version %q, %v", doc.OpenAPI, err)
	}
	for path, methods := range map[string]string{
		"/v1/jobs": "get post", "/v1/jobs/batch": "post", "/v1/jobs/{id}": "get", "/v1/jobs/{id}/cancel": "post", "/v1/jobs/{id}/retry": "post",
		"/v1/jobs/{id}/reschedule": "post", "/v1/dead-letters": "delete get", "/v1/dead-letters/redrive": "post", "/v1/stats": "get",
		"/metrics": "get", "/healthz": "get", "/readyz": "get",
	} {
		for method := range strings.FieldsSeq(methods) {
			if doc.Paths[path][method].OperationID == "" {
				t.Errorf("%s %s is not in the document", method, path)
			}
		}
	}
}

// The docs page is whole in itself: nothing comes from elsewhere, nothing is script.
func TestDocsPage(t *testing.T) {
	b := newBench(t)
	page := b.do("GET", "/docs", "").want(t, http.StatusOK)
	for _, want := range []string{"/v1/jobs/batch", "/v1/jobs/{id}/reschedule", `id="NewJob"`, "welcome-ada", `id="authentication"`, "always there", "at most 255 characters", "dedupe_key", `href="docs/docs.css"`, "discard-dead-letters"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, bad := range []string{"<script", "src=", `="http`, "url(", "@import", "ZgotmplZ", "<no value>", "style=", "<nil>"} {
		if strings.Contains(page.body, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if got := page.header.Get("Content-Security-Policy"); !strings.Contains(got, "style-src 'self'") {
		t.Errorf("policy %q", got)
	}
	style := b.do("GET", "/docs/docs.css", "").want(t, http.StatusOK)
	if got := style.header.Get("Content-Type"); !strings.HasPrefix(got, "text/css") || bytes.Contains([]byte(style.body), []byte("url(")) {
		t.Errorf("style sheet: %s", got)
	}
}
