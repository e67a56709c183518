package api_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// belowPrefix serves the API below a prefix, as a proxy does that takes the prefix off.
func belowPrefix(t *testing.T, b *bench, prefix string, says bool) string {
	t.Helper()
	back := httptest.NewServer(b.api)
	t.Cleanup(back.Close)
	to, err := url.Parse(back.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		if says {
			r.Out.Header.Set("X-Forwarded-Prefix", prefix)
		}
	}}
	front := httptest.NewServer(http.StripPrefix(prefix, proxy))
	t.Cleanup(front.Close)
	return front.URL + prefix
}

var linkForm = regexp.MustCompile(`href="([^#"][^"]*)"`)

// TestBelowAPrefix: every link of the docs, the address of a new job, of a triggered run and of the document's server lead back
// through the proxy.
func TestBelowAPrefix(t *testing.T) {
	b := newBench(t)
	base := belowPrefix(t, b, "/tools/belfry", true)
	call := func(method, address, body string) (at, made *url.URL, text string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		read, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode >= 300 {
			t.Fatalf("%s %s: %d, %v: %s", method, address, res.StatusCode, err, read)
		}
		if made, err = res.Location(); err != nil && !errors.Is(err, http.ErrNoLocation) {
			t.Fatal(err)
		}
		return res.Request.URL, made, string(read)
	}
	page, _, text := call("GET", base+"/docs", "")
	links := linkForm.FindAllStringSubmatch(text, -1)
	if len(links) < 2 {
		t.Errorf("the page has %d links", len(links))
	}
	for _, link := range links {
		to, err := page.Parse(link[1])
		if err != nil {
			t.Fatal(err)
		}
		call("GET", to.String(), "")
	}
	call("PUT", base+"/v1/schedules/nightly", `{"cron":"@daily","type":"echo"}`)
	for _, path := range []string{"/v1/jobs", "/v1/schedules/nightly/trigger"} {
		body := ""
		if path == "/v1/jobs" {
			body = `{"type":"echo"}`
		}
		_, made, _ := call("POST", base+path, body)
		if made == nil || !strings.HasPrefix(made.Path, "/tools/belfry/v1/jobs/") {
			t.Fatalf("%s: %v", path, made)
		}
		call("GET", made.String(), "")
	}
	if _, _, spec := call("GET", base+"/openapi.json", ""); !strings.Contains(spec, `"servers":[{"url":"/tools/belfry/"}]`) {
		t.Errorf("the document's server is another: %.300s", spec)
	}
	// A proxy that says nothing: the links of the page are relative.
	quiet := belowPrefix(t, b, "/quiet", false)
	page, _, text = call("GET", quiet+"/docs", "")
	for _, link := range linkForm.FindAllStringSubmatch(text, -1) {
		to, err := page.Parse(link[1])
		if err != nil {
			t.Fatal(err)
		}
		call("GET", to.String(), "")
	}
}

// TestPrefixesAreChecked: what cannot be a path is not repeated, nor what leads to another host.
func TestPrefixesAreChecked(t *testing.T) {
	b := newBench(t)
	for header, prefix := range map[string]string{
		"": "", "/": "", "/a": "/a", "/a/": "/a", "/a/b.c-d_~%20": "/a/b.c-d_~%20", "/a, /b": "/a/b", "a": "", "//evil.example": "", "/a//b": "", "/..": "", "/a/../b": "", "/.": "", "/a\"b": "",
		"https://evil.example": "", "/\\evil.example": "", "/a?x=1": "", "/a#b": "", "/a b": "", "/a@b": "", "/é": "", "/" + strings.Repeat("a", 300): "", "/a,https://x": "",
	} {
		got := b.do("POST", "/v1/jobs", `{"type":"echo"}`, "X-Forwarded-Prefix", header).want(t, http.StatusCreated)
		if want := prefix + "/v1/jobs/" + decode[job](t, got).ID; got.header.Get("Location") != want {
			t.Errorf("%q: %s, want %s", header, got.header.Get("Location"), want)
		}
	}
}

// TestEscapePath: a path that was decoded on its way leads to what its sender named.
func TestEscapePath(t *testing.T) {
	b := newBench(t)
	for _, c := range [][3]string{
		{"GET", "/v1/types/mail/send", "/v1/types/mail%2Fsend"}, {"PUT", "/v1/schedules/a%41b", "/v1/schedules/a%2541b"}, {"GET", "/v1/schedules/a/b/next", "/v1/schedules/a%2Fb/next"},
		{"HEAD", "/v1/schedules/a/b", "/v1/schedules/a%2Fb"}, {"PUT", "/v1/schedules/a/next", "/v1/schedules/a%2Fnext"}, {"POST", "/v1/schedules/a//b/pause", "/v1/schedules/a%2F%2Fb/pause"},
		{"GET", "/v1/schedules/a/next", "/v1/schedules/a/next"}, {"POST", "/v1/schedules/preview", "/v1/schedules/preview"}, {"POST", "/v1/jobs/batch", "/v1/jobs/batch"}, {"GET", "/v1/jobs", "/v1/jobs"},
		{"GET", "/v1/jobs/7", "/v1/jobs/7"}, {"GET", "/nothing/at all", "/nothing/at%20all"}, {"GET", "/", "/"}, {"PUT", "/v1/schedules/100%", "/v1/schedules/100%25"}, {"PUT", "/v1/schedules/a?b", "/v1/schedules/a%3Fb"},
		{"GET", "/v1/schedules/", "/v1/schedules/"}, {"DELETE", "/v1/schedules/x/y/z", "/v1/schedules/x%2Fy%2Fz"},
	} {
		if got := b.api.EscapePath(c[0], c[1]); got != c[2] {
			t.Errorf("%s %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
