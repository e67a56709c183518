package aws_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/adapters/aws"
	"github.com/belfry-dev/belfry/internal/terraformtest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// openGateway starts what stands for the HTTP API: it invokes the API's function for each request.
func (c *cloud) openGateway(t *testing.T, is outputs) {
	t.Helper()
	host := strings.TrimPrefix(is.Belfry.APIURL, "https://")
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		event := aws.HTTPEvent{
			Version: "2.0", RouteKey: "$default", RawPath: r.URL.EscapedPath(), RawQueryString: r.URL.RawQuery, Headers: map[string]string{"host": host},
			Body: base64.StdEncoding.EncodeToString(body), IsBase64Encoded: true,
		}
		for name, values := range r.Header {
			event.Headers[strings.ToLower(name)] = strings.Join(values, ",")
		}
		event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path, event.RequestContext.HTTP.SourceIP = r.Method, r.URL.Path, "203.0.113.7"
		said, err := c.invoke(context.WithoutCancel(r.Context()), is.Belfry.FunctionNames["api"], []byte(text(t, event)))
		var answer aws.HTTPAnswer
		if err == nil {
			err = json.Unmarshal(said, &answer)
		}
		content := []byte(answer.Body)
		if err == nil && answer.IsBase64Encoded {
			content, err = base64.StdEncoding.DecodeString(answer.Body)
		}
		if err != nil || answer.StatusCode == 0 {
			http.Error(w, string(said), http.StatusBadGateway)
			return
		}
		w.WriteHeader(answer.StatusCode)
		_, _ = w.Write(content)
	}))
	t.Cleanup(gateway.Close)
	c.gateway, c.token = gateway.URL, c.secretText(t, is.Belfry.AdminToken)
}

// call calls the API, which must answer well.
func (c *cloud) call(t *testing.T, method, path, body string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.gateway+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %d %v %s", method, path, res.StatusCode, err, said)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(said, into); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
}

// firstJob runs the commands of docs/aws.md that come after the apply, as they stand there: but the API's address, which
// only AWS resolves, is the gateway's.
func firstJob(t *testing.T, c *cloud, f *terraformtest.Folder) {
	t.Helper()
	t.Run("first job", func(t *testing.T) {
		testenv.Program(t, "curl")
		testenv.Program(t, "aws")
		page, err := os.ReadFile("../../../docs/aws.md")
		if err != nil {
			t.Fatal(err)
		}
		block := regexp.MustCompile("(?s)```sh\n(export BELFRY_URL=.*?)```").FindSubmatch(page)
		if block == nil {
			t.Fatal("docs/aws.md has no commands for the first job")
		}
		submit, wait, found := strings.Cut(string(block[1]), "curl -s \"$BELFRY_URL/v1/jobs/ID")
		if !found {
			t.Fatalf("docs/aws.md does not wait for the job ID: %s", block[1])
		}
		shell := func(script string) string {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", `terraform() { if [[ $* == "output -raw api_url" ]]; then echo "`+c.gateway+`"; else command terraform "$@"; fi; }`+"\n"+script)
			cmd.Dir, cmd.Env = f.Dir, append(os.Environ(), c.environment()...)
			said, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %s\n%s", err, said, script)
			}
			return string(said)
		}
		var made, ended job
		if said := shell(submit); json.Unmarshal([]byte(said), &made) != nil || made.ID == "" {
			t.Fatalf("submit: %s", said)
		}
		exports := regexp.MustCompile(`(?m)^export .*$`).FindAllString(submit, -1)
		said := shell(strings.Join(exports, "\n") + "\ncurl -s \"$BELFRY_URL/v1/jobs/" + made.ID + wait)
		if err := json.Unmarshal([]byte(said), &ended); err != nil || ended.Status != "done" {
			t.Errorf("the first job: %s", said)
		}
	})
}
