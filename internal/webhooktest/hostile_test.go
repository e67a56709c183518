package webhooktest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/host/node"
	"github.com/belfry-dev/belfry/internal/dnstest"
)

// resolutions are what names resolve to; each has an address that is refused.
var resolutions = [][]string{
	{"127.0.0.1"}, {"10.0.0.5"}, {"172.16.0.1"}, {"192.168.0.1"}, {"169.254.169.254"}, {"169.254.170.2"}, {"100.64.0.1"}, {"100.100.100.200"}, {"0.0.0.0"},
	{"168.63.129.16"}, {"224.0.0.1"}, {"255.255.255.255"}, {"::1"}, {"::"}, {"fd00::1"}, {"fd00:ec2::254"}, {"fe80::1"}, {"ff02::1"}, {"::ffff:127.0.0.1"},
	{"::ffff:10.0.0.1"}, {"::7f00:1"}, {"64:ff9b::7f00:1"}, {"64:ff9b:1::a00:1"}, {"2002:7f00:1::"}, {"2001:0:1::1"}, {"2606:4700::5efe:a00:1"},
	{"93.184.216.34", "10.0.0.5"}, {"10.0.0.5", "93.184.216.34"}, {"93.184.216.34", "::1"}, {"2606:4700:4700::1111", "127.0.0.1"},
}

// hostileStage is Belfry without an allow-list, whose names a server of the test resolves. A door listens where the
// hostile targets lead: nothing may knock.
func hostileStage(t *testing.T) (s *stage, dns *dnstest.Server, port int, knocks *atomic.Int64) {
	t.Helper()
	door, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	knocks = new(atomic.Int64)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			conn, err := door.Accept()
			if err != nil {
				return
			}
			knocks.Add(1)
			conn.Close()
		}
	}()
	t.Cleanup(func() { door.Close(); <-gone })
	dns, port = dnstest.Start(t), door.Addr().(*net.TCPAddr).Port
	s = start(t, layouts[0], func(p *node.Parts) {
		p.Settings.WebhookAllow, p.Settings.WebhookPorts = nil, []int{80, 443, port}
		p.Settings.WebhookFailures = 1_000_000
		p.Webhooks.Resolver = dns.Resolver()
	})
	return s, dns, port, knocks
}

// URLs that are hostile by their text are refused wherever they come in, and where they have come in all the same,
// as rows written past the API, they are not delivered to.
func TestHostileURLsAreRefusedAtEveryStage(t *testing.T) {
	var urls []string
	text, err := os.ReadFile(filepath.Join(root, "adapters", "webhook", "testdata", "hostile_urls.json"))
	if err == nil {
		err = json.Unmarshal(text, &urls)
	}
	if err != nil || len(urls) < 40 {
		t.Fatalf("%d URLs, %v", len(urls), err)
	}
	s, _, port, knocks := hostileStage(t)
	urls = append(urls, fmt.Sprintf("http://127.0.0.1:%d/", port), fmt.Sprintf("http://2130706433:%d/", port), fmt.Sprintf("http://localhost:%d/", port))
	for _, raw := range urls {
		s.refusedAtCreate(raw)
	}
	var page struct{ Items []json.RawMessage }
	if s.must(http.StatusOK, "GET", "/v1/jobs", "", &page); len(page.Items) != 0 {
		t.Fatalf("%d jobs were accepted", len(page.Items))
	}
	for i, job := range s.past(urls, 5) {
		if job.Attempts != 1 || job.Errors[0].Kind != "permanent" {
			t.Errorf("%s: %+v", urls[i], job)
		}
	}
	if n := knocks.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

// Names with an address that is refused are refused wherever they come in, while they have it, and at the dial.
func TestHostileResolutionsAreRefusedAtEveryStage(t *testing.T) {
	s, dns, port, knocks := hostileStage(t)
	var urls []string
	for i, addresses := range resolutions {
		host := "h" + strconv.Itoa(i) + ".example.com"
		dns.Set(host, addresses...)
		raw := fmt.Sprintf("http://%s:%d/", host, port)
		urls = append(urls, raw)
		s.refusedAtCreate(raw)
	}
	for i, job := range s.past(urls, 1) {
		if len(job.Errors) != 1 || !strings.Contains(job.Errors[0].Error, "an address that is not public") {
			t.Errorf("%v: %+v", resolutions[i], job)
		}
	}
	if n := knocks.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

// A name is public when a job and a type are made and leads to this machine when they are delivered.
func TestRebindingIsRefusedAtTheDial(t *testing.T) {
	s, dns, port, knocks := hostileStage(t)
	dns.Set("rebind.example.com", "93.184.216.34", "2606:4700:4700::1111")
	raw := fmt.Sprintf("http://rebind.example.com:%d/", port)
	own := s.submit(raw, `,"delay":"24h","max_attempts":2,"backoff":["0s"]`)
	s.must(http.StatusCreated, "PUT", "/v1/types/rebound", fmt.Sprintf(`{"target":{"url":%q},"max_attempts":2,"backoff":["0s"]}`, raw), nil)
	var typed job
	s.must(http.StatusCreated, "POST", "/v1/jobs", `{"type":"rebound","delay":"24h"}`, &typed)

	dns.Set("rebind.example.com", "127.0.0.1")
	for _, id := range []string{own.ID, typed.ID} {
		s.must(http.StatusOK, "POST", "/v1/jobs/"+id+"/reschedule", `{"delay":"0s"}`, nil)
		got := s.ended(id, "failed")
		if got.Attempts != 2 || !strings.Contains(got.Errors[1].Error, ": the host resolves to an address that is not public") {
			t.Errorf("%+v", got)
		}
	}
	if n := knocks.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

// refusedAtCreate tries all ways in.
func (s *stage) refusedAtCreate(raw string) {
	s.t.Helper()
	url, err := json.Marshal(raw)
	if err != nil {
		s.t.Fatal(err)
	}
	target := `"target":{"url":` + string(url) + `}`
	for name, way := range map[string][3]string{
		"job":   {"POST", "/v1/jobs", `{"type":"hook",` + target + `}`},
		"batch": {"POST", "/v1/jobs/batch", `{"jobs":[{"type":"hook",` + target + `}]}`},
		"type":  {"PUT", "/v1/types/hook", `{` + target + `}`},
	} {
		status, text := s.call(way[0], way[1], way[2], nil)
		if wanted := map[bool]int{true: 200, false: 422}[name == "batch"]; status != wanted || !strings.Contains(text, `"field":"`) || !strings.Contains(text, `target`) {
			s.t.Errorf("%s %.100q: %d %s", name, raw, status, text)
		}
	}
}

// past writes jobs and a type with these targets past the API, as rows written by hand would be, and returns what
// became of the jobs. All must have failed.
func (s *stage) past(urls []string, maxAttempts int) (jobs []job) {
	s.t.Helper()
	var rows []core.NewJob
	for _, raw := range urls {
		target, err := json.Marshal(map[string]string{"url": raw})
		if err != nil {
			s.t.Fatal(err)
		}
		rows = append(rows, core.NewJob{Type: "hook", Priority: core.Default, MaxAttempts: maxAttempts, Target: target})
	}
	if err := s.store.MarkDelivered(s.t.Context(), []string{"hook"}); err != nil {
		s.t.Fatal(err)
	}
	written, err := s.store.Submit(s.t.Context(), rows)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, w := range written {
		jobs = append(jobs, s.ended(strconv.FormatInt(w.ID, 10), "failed"))
	}
	return jobs
}
