package cloudruntest

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

const apiToken = "a-token-of-the-tests-only"

// ask sends a request to the API and returns the answer.
func ask(t *testing.T, f *function, method, path, token, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, f.address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
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

// TestAPI: a job is submitted and read.
func TestAPI(t *testing.T) {
	for kind, run := range kinds {
		t.Run(kind, func(t *testing.T) {
			setting, _ := database(t)
			f := run(t, "api", setting, "BELFRY_TOKENS="+apiToken)
			status, body := ask(t, f, "POST", "/v1/jobs", apiToken, `{"type":"echo","delay":"1h","tags":["a b"]}`)
			if status != 201 || !strings.Contains(body, `"status":"scheduled"`) {
				t.Fatalf("submit: %d %s", status, body)
			}
			if status, body = ask(t, f, "GET", "/v1/jobs?tag=a%20b", apiToken, ""); status != 200 || !strings.Contains(body, `"id":"1"`) {
				t.Errorf("list: %d %s", status, body)
			}
			if status, _ = ask(t, f, "GET", "/v1/jobs", "", ""); status != 401 {
				t.Errorf("without a token: %d", status)
			}
			if status, _ = ask(t, f, "POST", "/health", "", ""); status == 200 {
				t.Errorf("POST /health: %d", status)
			}
			if status, _ = ask(t, f, "GET", "/readyz", "", ""); status != 200 {
				t.Errorf("readyz: %d", status)
			}
		})
	}
}

// TestAPITellsCallersApart: the address that Cloud Run adds is the caller's, whatever the caller says of it.
func TestAPITellsCallersApart(t *testing.T) {
	setting, _ := database(t)
	f := start(t, "api", setting, "BELFRY_INSECURE=true", "BELFRY_API_RATE=1")
	from := func(hops ...string) int {
		var header []string
		for _, h := range hops {
			header = append(header, "X-Forwarded-For", h)
		}
		status, _ := ask(t, f, "GET", "/v1/stats", "", "", header...)
		return status
	}
	limited := false
	for i := range 50 { // it says that it is another one each time
		limited = limited || from(fmt.Sprintf("10.0.0.%d, 203.0.113.7", i)) == http.StatusTooManyRequests
		limited = limited || from(fmt.Sprintf("10.0.1.%d", i), "203.0.113.7") == http.StatusTooManyRequests
	}
	if !limited {
		t.Error("one caller is not bounded")
	}
	if got := from("203.0.113.7, 198.51.100.4"); got != 200 {
		t.Errorf("another caller: %d", got)
	}
}

// TestMostTimeout: what asks for more time than the workers' hosts give is refused, unless a target does the work.
func TestMostTimeout(t *testing.T) {
	setting, _ := database(t)
	f := start(t, "api", setting, "BELFRY_TOKENS="+apiToken, "BELFRY_MOST_TIMEOUT=9m",
		"BELFRY_WEBHOOK_SECRETS=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "BELFRY_WEBHOOK_ALLOW=hooks.example.com")
	const target = `"target":{"url":"https://hooks.example.com/"},`
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "/v1/jobs", `{"type":"long","timeout":"9m"}`, 201},
		{"POST", "/v1/jobs", `{"type":"long","timeout":"9m1s"}`, 422},
		{"POST", "/v1/jobs", `{"type":"long",` + target + `"timeout":"1h"}`, 201},
		{"PUT", "/v1/types/long", `{"timeout":"9m"}`, 201},
		{"PUT", "/v1/types/longer", `{"timeout":"15m"}`, 422},
		{"PUT", "/v1/types/delivered", `{` + target + `"timeout":"15m"}`, 201},
		{"POST", "/v1/jobs", `{"type":"delivered","timeout":"15m"}`, 201},
		{"PUT", "/v1/schedules/s", `{"every":"1h","type":"long","timeout":"15m"}`, 422},
		{"PUT", "/v1/schedules/s", `{"every":"1h","type":"long","timeout":"5m"}`, 201},
	} {
		status, body := ask(t, f, c.method, c.path, apiToken, c.body)
		if status != c.want || status == 422 && !strings.Contains(body, `"timeout"`) {
			t.Errorf("%s %s %s: %d, want %d: %s", c.method, c.path, c.body, status, c.want, body)
		}
	}
}

// TestFunctionsSayWhatIsMissing: a function that cannot know whom to let in does not start.
func TestFunctionsSayWhatIsMissing(t *testing.T) {
	setting, _ := database(t)
	for name, say := range map[string]string{"worker": "BELFRY_CALLER_AUDIENCE", "tick": "BELFRY_CALLER_AUDIENCE", "api": "token"} {
		cmd := exec.CommandContext(t.Context(), program(t, name))
		cmd.Env = []string{setting, "PORT=0"}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), say) {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		cmd = exec.CommandContext(t.Context(), program(t, name))
		cmd.Env = []string{"PORT=0"}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "BELFRY_DATABASE_URL is not set") {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}
