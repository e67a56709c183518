package apifuzz

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// plant submits jobs that will be done, failed, running, scheduled and cancelled, of several tenants, and waits until
// those that end have ended.
func plant(t *testing.T, address string) {
	t.Helper()
	for i := range 10 {
		common := fmt.Sprintf(`"tenant":"tenant-%d","tags":["tag-%d"]`, i%3, i)
		call(t, "POST", address+"/v1/jobs", `{"type":"echo","payload":{"i":1},`+common+`}`)
		call(t, "POST", address+"/v1/jobs", `{"type":"fail","payload":{"permanent":true},`+common+`}`)
		call(t, "POST", address+"/v1/jobs", `{"type":"sleep","payload":{"ms":3600000},`+common+`}`)
		call(t, "POST", address+"/v1/jobs", fmt.Sprintf(`{"type":"echo","delay":"24h","dedupe_key":"key-%d",%s}`, i, common))
	}
	call(t, "POST", address+"/v1/jobs/4/cancel", "")
	for i, rule := range []string{`"cron":"@daily"`, `"every":"1h","expect_within":"1m"`, `"cron":"30 2 * * *","time_zone":"Europe/Berlin","paused":true`} {
		call(t, "PUT", fmt.Sprintf("%s/v1/schedules/schedule-%d", address, i), `{`+rule+`,"type":"echo"}`)
	}
	for id := 1; id <= 40; id++ {
		if kind := id % 4; kind == 1 || kind == 2 {
			answer := call(t, "GET", fmt.Sprintf("%s/v1/jobs/%d?wait=30s", address, id), "")
			if !strings.Contains(answer, `"status":"done"`) && !strings.Contains(answer, `"status":"failed"`) {
				t.Fatalf("job %d has not ended: %s", id, answer)
			}
		}
	}
}

// call makes a request that must be accepted.
func call(t *testing.T, method, url, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %s %v %s", method, url, answer.Status, err, text)
	}
	return string(text)
}
