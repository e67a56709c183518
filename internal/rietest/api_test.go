package rietest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/adapters/aws"
)

const token = "a-token-of-the-tests-only"

// request makes an event of a document.
func request(t *testing.T, name, method, path, query, body string) aws.HTTPEvent {
	t.Helper()
	var event aws.HTTPEvent
	document(t, name, &event)
	event.RawPath, event.RawQueryString = path, query
	event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path = method, path
	event.Headers["authorization"] = "Bearer " + token
	if body != "" {
		event.Headers["content-type"] = "application/json"
		event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(body)), true
	}
	return event
}

// TestAPI: a job is submitted and read through both kinds of events.
func TestAPI(t *testing.T) {
	address, _ := database(t)
	f := start(t, "api", 20, "BELFRY_DATABASE_URL="+address, "BELFRY_TOKENS="+token)
	for _, name := range []string{"function-url.json", "http-api.json"} {
		answer := buffered(t, f.invoke(t, request(t, name, "POST", "/v1/jobs", "", `{"type":"echo","payload":{"naïve":"✓"},"delay":"1h","tags":["a b"]}`)))
		var job struct{ ID, Status string }
		if err := json.Unmarshal([]byte(answer.Body), &job); err != nil || answer.StatusCode/100 != 2 || job.ID == "" {
			t.Fatalf("%s: submit: %v: %+v", name, err, answer)
		}
		answer = buffered(t, f.invoke(t, request(t, name, "GET", "/v1/jobs/"+job.ID, "", "")))
		if answer.StatusCode != 200 || !strings.Contains(answer.Body, `"naïve":"✓"`) || answer.Headers["content-type"] == "" {
			t.Errorf("%s: read: %+v", name, answer)
		}
		if answer = buffered(t, f.invoke(t, request(t, name, "GET", "/v1/jobs", "tag=a%20b&tag=other&limit=5", ""))); answer.StatusCode >= 500 {
			t.Errorf("%s: list: %+v", name, answer)
		}
		stranger := request(t, name, "GET", "/v1/jobs", "", "")
		delete(stranger.Headers, "authorization")
		if answer = buffered(t, f.invoke(t, stranger)); answer.StatusCode != 401 {
			t.Errorf("%s: without a token: %+v", name, answer)
		}
	}
}

// TestAPIStreamed: with a streaming Function URL the answer is a prelude, eight zeros and the body.
func TestAPIStreamed(t *testing.T) {
	address, _ := database(t)
	f := start(t, "api", 20, "BELFRY_DATABASE_URL="+address, "BELFRY_TOKENS="+token, "BELFRY_STREAM=true")
	said := f.invoke(t, request(t, "function-url.json", "GET", "/openapi.json", "", ""))
	head, body, ok := bytes.Cut(said, make([]byte, 8))
	var prelude struct {
		StatusCode int
		Headers    map[string]string
	}
	if !ok || json.Unmarshal(head, &prelude) != nil || prelude.StatusCode != 200 || !json.Valid(body) {
		t.Fatalf("%.300s", said)
	}
	if prelude.Headers["content-type"] == "" {
		t.Errorf("headers %v", prelude.Headers)
	}
}

func buffered(t *testing.T, said []byte) (answer aws.HTTPAnswer) {
	t.Helper()
	if err := json.Unmarshal(said, &answer); err != nil {
		t.Fatalf("%v: %.300s", err, said)
	}
	return answer
}
