package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// Who has nothing but the address finds the way on from it, also below a prefix, and with tokens as without.
func TestTheAddressLeadsOn(t *testing.T) {
	b := newBench(t, withToken)
	below := http.NewServeMux()
	below.Handle("/belfry/", http.StripPrefix("/belfry", b.api))
	ask := func(method, address, accept string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, address, nil)
		if accept != "" {
			r.Header.Set("Accept", accept)
		}
		w := httptest.NewRecorder()
		below.ServeHTTP(w, r)
		return w
	}
	follow := func(from, link string) {
		t.Helper()
		base, err := url.Parse("http://h" + from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := base.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		if got := ask("GET", to.String(), ""); got.Code != http.StatusOK && got.Code != http.StatusUnauthorized {
			t.Errorf("%s leads to %s: %d", from, to, got.Code)
		}
	}
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	for _, path := range []string{"/belfry/", "/belfry/v1", "/belfry/v1/"} {
		for _, accept := range []string{"", "*/*", "application/json"} {
			got := ask("GET", "http://h"+path, accept)
			var links map[string]string
			if err := json.Unmarshal(got.Body.Bytes(), &links); got.Code != http.StatusOK || err != nil || links["name"] != "Belfry" {
				t.Fatalf("%s: %d %s", path, got.Code, got.Body)
			}
			for name, link := range links {
				if name != "name" && name != "version" {
					follow(path, link)
				}
			}
		}
		if got := ask("HEAD", "http://h"+path, ""); got.Code != http.StatusOK {
			t.Errorf("HEAD %s: %d", path, got.Code)
		}
		if got := ask("POST", "http://h"+path, ""); got.Code != http.StatusMethodNotAllowed || !strings.Contains(got.Header().Get("Allow"), "GET") {
			t.Errorf("POST %s: %d %s", path, got.Code, got.Body)
		}
	}
	for _, path := range []string{"/belfry/", "/belfry/v1", "/belfry/v1/", "/belfry/docs/"} {
		got := ask("GET", "http://h"+path, browser)
		if got.Code != http.StatusSeeOther {
			t.Errorf("a browser at %s: %d", path, got.Code)
		}
		follow(path, got.Header().Get("Location"))
	}
	for _, path := range []string{"//", "/v1//", "/docs//", "/./", "/v1/..", "/docs/x", "/v2", "/docs.html", "/%2F"} {
		if got := ask("GET", "http://h/belfry"+path, ""); got.Code == http.StatusOK {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
		if got := b.raw("GET", path, ""); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
}
