package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

// anotherServer is one that a command may meet in place of Belfry, or Belfry in trouble.
type anotherServer struct {
	name  string
	serve http.HandlerFunc
	code  int
	says  string
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		discard(r.Body)
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

var page = "<!DOCTYPE html>\x1b[2J<html><title>Welcome</title></html>"

var problem = `{"title":"\u001b[2J","status":1,"detail":"why \u001b[2J","errors":[{"field":"a\u001b[2J","rule":"b\u202e"},{"field":"c","rule":"d"}],"reason":"\u001b[2J","job_id":"\u001b[2J"}`

var anotherServers = []anotherServer{
	{"a web page", status(200, page), console.ExitUnreachable, "the answer is not one of this API"},
	{"nothing", status(200, ""), console.ExitUnreachable, "the answer is not one of this API"},
	{"an empty object", status(200, "{}"), console.ExitUnreachable, "the answer is not one of this API"},
	{"a list", status(200, "[]"), console.ExitUnreachable, "the answer is not one of this API"},
	{"null items", status(200, `{"items":[null,null]}`), console.ExitUnreachable, "the answer is not one of this API"},
	{"half an answer", func(w http.ResponseWriter, r *http.Request) {
		discard(r.Body)
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, `{"items":[`)
	}, console.ExitUnreachable, "EOF"},
	{"an answer without end", func(w http.ResponseWriter, r *http.Request) {
		discard(r.Body)
		w.Header().Set("Content-Length", "1000000000000")
		fmt.Fprint(w, `{"items":[`)
	}, console.ExitUnreachable, "longer than"},
	{"a redirect", func(w http.ResponseWriter, r *http.Request) {
		discard(r.Body)
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}, console.ExitUnreachable, "redirects are not followed"},
	{"another protocol", func(w http.ResponseWriter, r *http.Request) {
		discard(r.Body)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			fmt.Fprint(conn, "220 mail.example ESMTP \x1b[2J\r\n")
			_ = conn.Close()
		}
	}, console.ExitUnreachable, "malformed HTTP"},
	{"400", status(400, problem), console.ExitUsage, "c: d"},
	{"401", status(401, page), console.ExitAccess, "unauthorized"},
	{"403", status(403, problem), console.ExitAccess, "d"},
	{"404, a page", status(404, page), console.ExitNotFound, "not found"},
	{"408", status(408, page), console.ExitUnreachable, "request timeout"},
	{"409", status(409, problem), console.ExitConflict, "d"},
	{"412", status(412, page), console.ExitConflict, "precondition failed"},
	{"413", status(413, page), console.ExitUsage, "too large"},
	{"422", status(422, problem), console.ExitUsage, "a\\x1b[2J: b\\u202e"},
	{"429", status(429, page), console.ExitUnreachable, "too many requests"},
	{"500", status(500, page), console.ExitUnreachable, "internal server error"},
	{"502", status(502, page), console.ExitUnreachable, "bad gateway"},
	{"503", status(503, problem), console.ExitUnreachable, "d"},
	{"520", status(520, page), console.ExitUnreachable, "a proxy could not reach the server"},
	{"527", status(527, page), console.ExitUnreachable, "a proxy could not reach the server"},
	{"599", status(599, page), console.ExitUnreachable, "no answer of this API"},
}

// Every command, against servers that are none of Belfry's or in trouble: it says so, ends with the code of it, and
// nothing of what they send reaches the terminal raw.
func TestOtherServers(t *testing.T) {
	commands := leaves(t)
	for _, other := range anotherServers {
		t.Run(other.name, func(t *testing.T) {
			server := httptest.NewServer(other.serve)
			t.Cleanup(server.Close)
			r := newRig(t, server.URL)
			r.in = `{"type":"a"}` + "\n"
			want := other.code
			if want == console.ExitUsage { // it is the line that is refused
				want = console.ExitFailed
			}
			if code := r.run("jobs", "submit", "--file", "-"); code != want || !strings.Contains(r.errs, other.says) {
				t.Errorf("a file: %d, want %d saying %q\n%s%s", code, other.code, other.says, r.out, r.errs)
			}
			r.proper([]string{"jobs submit --file -"}, console.ExitOK, false)
			for path := range commands {
				s := samples[path]
				for _, format := range []string{"", "--json"} {
					line := s.words(path, strings.Fields(format)...)
					code := r.run(line...)
					r.proper(line, code, format != "")
					switch {
					case s.calls && (code != other.code || !strings.Contains(r.errs+r.out, other.says) && format == ""):
						t.Errorf("belfry %q: %d, want %d saying %q\n%s%s", line, code, other.code, other.says, r.out, r.errs)
					case path == "doctor" && (code != console.ExitFailed || !strings.Contains(r.out, "broken")):
						t.Errorf("doctor: %d\n%s%s", code, r.out, r.errs)
					}
				}
			}
		})
	}
}

func TestNoServer(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, address)
	for path := range leaves(t) {
		if s := samples[path]; s.calls {
			if code := r.run(s.words(path)...); code != console.ExitUnreachable || !strings.Contains(r.errs+r.out, "connection refused") {
				t.Errorf("belfry %s: %d\n%s%s", path, code, r.out, r.errs)
			}
		}
	}
	for _, bad := range []string{"", "h", "ftp://h", "http://", "http://u:s3cr3t@h", "http://h?x", "http://\x1b[2J", "http://h:port"} {
		if bad == "" {
			continue
		}
		if code := r.run("stats", "--url", bad); code != console.ExitUsage || strings.Contains(r.errs, "s3cr3t") || !strings.Contains(r.errs, "--url") {
			t.Errorf("%q: %d %s", bad, code, r.errs)
		}
	}
}
