package rulestest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

func target(name, field, text string) Case {
	return say("target "+name, field, func(j *core.NewJob) { j.Target = json.RawMessage(text) })
}

// GoodURLs and BadURLs are held against the rule for a target's URL.
var (
	GoodURLs = []string{
		"https://example.com", "http://example.com/", "https://example.com/x?y=z", "HTTPS://Example.COM:8443/a/b?c=%zz&d=[]{}|^#frag%20x", "http://a.b-c_d.e", "http://127.0.0.1:80/",
		"http://[::1]/", "http://[2001:db8::1]:8080/a", "http://[::ffff:10.0.0.1]/", "http://x:/", "http://x?", "http://x?a@b", "http://x/@", "http://x#", "http://x/%41:b", "https://xn--mnchen-3ya.de/",
		"http://x/a'b\"c\\d", "http://.", "http://x:99999", "http://x/?#?", "http://x/##",
	}
	BadURLs = []string{
		"", "x", "/x", "//x", "example.com", "ftp://x", "file:///etc/passwd", "javascript:alert(1)", "http:", "http:x", "http:/x", "http://", "http:///x", "http://:80", "http://?a", "http://#a",
		"http://user@x", "http://user:pw@x", "http://@x", "http://:@x", "http://x:y", "http://x:80:80", "http://x:-1", "http://x y", "http://x/a b", "http://x/%zz", "http://x/%4", "http://x/%", "http://x/#%zz",
		"http://[::1", "http://::1/", "http://[1.2.3.4]/", "http://[::1]x", "http://[x]", "http://[]", "http://[fe80::1%25en0]/", "http://[1:2:3:4:5:6:7:8:9]/", "http://[12345::]", "http://x[::1]", "http://é", "http://x/é",
		"http://x\n", "\thttp://x", " http://x", "http://x\x7f", "http://%41", "http://a%2fb", "http://x,y", "http://x'y", "http://x;y", "http://x<y", `http://x\y`, "https//x", "http://x\\@y", "httpss://x", "http://*",
	}
)

func targetCases() []Case {
	header := func(name, value string) string {
		return fmt.Sprintf(`{"url":"https://x","headers":{%s:%s}}`, quote(name), quote(value))
	}
	many := func(n int) string {
		headers := make([]string, n)
		for i := range headers {
			headers[i] = fmt.Sprintf(`"X-%d":"v"`, i)
		}
		return `{"url":"https://x","headers":{` + strings.Join(headers, ",") + `}}`
	}
	sized := func(n int) string {
		return `{"url":"https://x","headers":{"a":"` + strings.Repeat("v", n-len(`{"url":"https://x","headers":{"a":""}}`)) + `"}}`
	}
	long := func(n int) string { return `{"url":"https://x/` + strings.Repeat("a", n-len("https://x/")) + `"}` }
	all := []Case{
		target("with headers", "", `{ "headers" : {"X-A": "b c ~", "authorization":""}, "url":"https://x"`+"\n\t}"), target("of escapes", "", `{"\u0075rl":"\u0068ttps://x"}`), target("headers null", "target", `{"url":"https://x","headers":null}`),
		target("header null", "target", `{"url":"https://x","headers":{"a":null}}`), target("50 headers", "", many(core.MaxTargetHeaders)), target("a header in two cases", "target.headers", `{"url":"https://x","headers":{"Authorization":"a","authorization":"b"}}`), target("51 headers", "target.headers", many(core.MaxTargetHeaders+1)),
		target("largest", "", sized(core.MaxTargetBytes)), target("too large", "target", sized(core.MaxTargetBytes+1)), target("longest URL", "", long(core.MaxTargetURLBytes)), target("URL too long", "target.url", long(core.MaxTargetURLBytes+1)),
		target("a text", "target", `"https://x"`), target("an array", "target", `[]`), target("a number", "target", `1`), target("null", "target", `null`), target("without url", "target.url", `{}`), target("url null", "target", `{"url":null}`),
		target("url a number", "target", `{"url":1}`), target("url an object", "target", `{"url":{}}`), target("unknown member", "target", `{"url":"https://x","method":"GET"}`), target("member in capitals", "target", `{"URL":"https://x"}`),
		target("url twice", "target", `{"url":"https://x","url":"https://y"}`), target("header twice", "target", `{"url":"https://x","headers":{"a":"1","a":"2"}}`), target("headers an array", "target", `{"url":"https://x","headers":[]}`),
		target("headers a text", "target", `{"url":"https://x","headers":"a: b"}`), target("header a number", "target", `{"url":"https://x","headers":{"a":1}}`), target("header an array", "target", `{"url":"https://x","headers":{"a":["b"]}}`),
		target("header name empty", "target.headers", header("", "v")), target("header name with a space", "target.headers", header("a b", "v")), target("header name with a colon", "target.headers", header("a:", "v")),
		target("header name of another language", "target.headers", header("é", "v")), target("header value with a newline", "target.headers", header("a", "b\r\nc: d")), target("header value of another language", "target.headers", header("a", "é")),
		target("header value with DEL", "target.headers", header("a", "\x7f")), target("NUL", "target", `{"url":"https://x/\u0000"}`), target("NUL in a name", "target", `{"\u0000":1}`), target("lone surrogate", "target", `{"url":"https://x/\ud800"}`),
		target("surrogate in a header", "target", `{"url":"https://x","headers":{"\udc00":"v"}}`), target("deep", "target", `{"url":`+nested("[", "", "]", 1000)+`}`),
		target("all wrong", "target.url", `{"url":"x","headers":{"":"v"}}`), target("cut off", "target", `{"url":`).badBody().badValue(), target("not UTF-8", "target", "{\"url\":\"https://x/\xff\"}").badBody().badValue(),
		saySQL("target null", "", `target => NULL`),
	}
	for _, url := range GoodURLs {
		all = append(all, target("URL "+url, "", `{"url":`+quote(url)+`}`))
	}
	for _, url := range BadURLs {
		all = append(all, target("URL "+url, "target.url", `{"url":`+quote(url)+`}`))
	}
	return all
}
