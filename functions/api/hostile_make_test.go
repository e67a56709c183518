package api_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// maker makes the wrong requests of one operation.
type maker struct {
	*bench
	doc          *openDoc
	op           *openOperation
	method, path string
	running      core.Job // whose attempt has this lease token
	lease        string
	made         []hostile
}

// all are the requests, each wrong in one part of what is otherwise as the document's own examples.
func (m *maker) all() []hostile {
	m.paths()
	m.queries()
	m.headers()
	if m.op.RequestBody != nil {
		m.bodies()
		m.fields()
	}
	return m.made
}

// target is the operation's path with good values in it. Other values replace those of the same name.
func (m *maker) target(name, value string) string {
	path := m.path
	for _, p := range m.op.Parameters {
		if p.In == "path" {
			good := fmt.Sprint(p.Example)
			if p.Name == "id" && strings.HasPrefix(m.path, "/v1/jobs/") {
				good = strconv.FormatInt(m.running.ID, 10)
			}
			if p.Name == name {
				good = value
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", good)
		}
	}
	return path
}

// body is the document's example, "" where the operation takes none.
func (m *maker) body() string {
	if m.op.RequestBody == nil {
		return ""
	}
	example := string(m.op.RequestBody.Content["application/json"].Example)
	if s := m.doc.find(m.op.RequestBody.Content["application/json"].Schema); s.Properties["lease_token"] != nil {
		example = strings.Replace(example, `"lease_token":"text"`, `"lease_token":"`+m.lease+`"`, 1)
		if !strings.Contains(example, m.lease) {
			m.t.Fatalf("%s: no place for a lease token in %s", m.op.OperationID, example)
		}
	}
	return example
}

func (m *maker) add(h hostile) {
	m.made = append(m.made, h)
}

// hostileTexts are no good name of anything.
var hostileTexts = []string{
	"\x00", "a\x00b", "a\nb", "\r\n", "\x1b[31m", "\u2028", "a b", " ", "", "a/b", "a//b", "../../etc/passwd", "%", "%41", "%00", "\"", "'", "`", "\\",
	"'; DROP TABLE jobs;--", "$1", "{}", "[]", "<script>", "😀", "e\u0301", "\u202e", "\ufeff", "null", "-1", "0", "00", "1.0", "1e3", "+1", "0x1",
	"9223372036854775808", "99999999999999999999", "-9223372036854775809", strings.Repeat("9", 400), strings.Repeat("a", 5000), strings.Repeat("é", 300),
}

// wrongTimes look like times, and are none of RFC 3339.
var wrongTimes = []string{
	"2030-03-01T12:00:00,5Z", "2030-03-01T2:00:00Z", "2030-03-01T12:00:00+24:00", "2030-03-01T12:00:00+23:60", "2030-03-01T12:00:60Z", "2030-03-01T23:59:60.5Z",
	"2030-03-01 12:00:00Z", "2030-03-01T12:00Z", "2030-03-01T12:00:00", "2030-03-01T12:00:00.Z", "2030-03-01T12:00:00+0100", "2030-03-01T12:00:00+01", "2030-03-01T24:00:00Z",
	"2030-02-30T12:00:00Z", "2030-3-1T12:00:00Z", "12030-03-01T12:00:00Z", "+2030-03-01T12:00:00Z", "20300301T120000Z", "2030-03-01T12:00:00ZZ", "2030-W09-5T12:00:00Z", "2030-03-01T12:00:00\u22120100",
	"\uff12030-03-01T12:00:00Z", "now", "1767225600", "2030-03-01T12:00:00 Z", "2030-03-01T12:00:00+ 1:00", "2030-03-01",
}

// wrongFor are the texts that a schema does not accept, by its own words.
func (m *maker) wrongFor(s *openSchema) []string {
	var wrong []string
	for _, text := range hostileTexts {
		if !m.accepts(s, text) {
			wrong = append(wrong, text)
		}
	}
	if s.MaxLength != nil {
		wrong = append(wrong, strings.Repeat("a", *s.MaxLength+1))
	}
	if s.Format == "date-time" {
		wrong = append(wrong, wrongTimes...)
	}
	if s.Maximum != nil {
		wrong = append(wrong, strconv.FormatFloat(*s.Maximum+1, 'f', -1, 64), strconv.FormatFloat(*s.Minimum-1, 'f', -1, 64), "1.5")
	}
	return wrong
}

// accepts reports whether a schema of a parameter accepts a text.
func (m *maker) accepts(s *openSchema, text string) bool {
	s = m.doc.find(s)
	switch s.Type {
	case "integer":
		n, err := strconv.Atoi(text)
		return err == nil && float64(n) >= *s.Minimum && float64(n) <= *s.Maximum
	case "boolean":
		return text == "true" || text == "false"
	case "array":
		return m.accepts(s.Items, text)
	}
	length := len([]rune(text))
	switch {
	case len(s.Enum) > 0:
		return slices.Contains(s.Enum, any(text))
	case s.Format == "date-time":
		return false
	case s.MaxLength != nil && len(text) > *s.MaxLength: // bytes
		return false
	case s.MinLength != nil && length < *s.MinLength:
		return false
	case s.Pattern != "":
		return regexp.MustCompile(s.Pattern).MatchString(text)
	}
	return true
}

// paths puts hostile texts where the path has its parameters.
func (m *maker) paths() {
	for _, p := range m.op.Parameters {
		if p.In != "path" {
			continue
		}
		for _, text := range m.wrongFor(m.doc.find(p.Schema)) {
			h := hostile{what: fmt.Sprintf("path %s %.40q", p.Name, text), target: m.target(p.Name, url.PathEscape(text)), body: m.body(), status: []int{422}, field: p.Name}
			if text == "" {
				continue // another path
			}
			m.add(h)
		}
	}
}

// queries tries each parameter with what it does not accept, twice, and names that are none.
func (m *maker) queries() {
	query := func(what, raw, field string) {
		m.add(hostile{what: "query " + what, target: m.target("", "") + "?" + raw, body: m.body(), status: []int{422}, field: field})
	}
	query("of an unknown name", "colour=1", "colour")
	query("of an unknown name that is hostile", url.QueryEscape("'; DROP TABLE\x00")+"=1", "")
	query("that is malformed", "%zz=1", "query")
	query("that is not UTF-8", "%ff=1", "")
	for _, p := range m.op.Parameters {
		if p.In != "query" {
			continue
		}
		s := m.doc.find(p.Schema)
		wrong := m.wrongFor(s)
		if p.Name == "cursor" {
			wrong = append(wrong, "x", "AAAAAAAAAAAAAAAAAAAAAA", m.otherCursor())
		}
		for _, text := range append(wrong, "\xff") {
			query(fmt.Sprintf("%s %.40q", p.Name, text), p.Name+"="+url.QueryEscape(text), p.Name)
		}
		if good := goodText(s); s.Type != "array" {
			query(p.Name+" twice", p.Name+"="+good+"&"+p.Name+"="+good, p.Name)
		} else {
			query(p.Name+" too often", strings.Repeat("&"+p.Name+"="+goodText(s.Items), *s.MaxItems+1)[1:], p.Name)
		}
	}
}

// otherCursor is a real cursor, of a list with another filter.
func (m *maker) otherCursor() string {
	page := decode[struct {
		Next string `json:"next_cursor"`
	}](m.t, m.do("GET", "/v1/jobs?limit=1&type=echo&run_after=2020-01-01T00:00:00Z", ""))
	if page.Next == "" {
		m.t.Fatal("there is no second page")
	}
	return page.Next
}

func goodText(s *openSchema) string {
	switch {
	case len(s.Enum) > 0:
		return fmt.Sprint(s.Enum[0])
	case s.Type == "integer":
		return "1"
	case s.Type == "boolean":
		return "true"
	case s.Format == "date-time":
		return "2026-03-01T12:00:00Z"
	case s.Pattern != "" && regexp.MustCompile(s.Pattern).MatchString("30s"):
		return "30s"
	}
	return "1"
}

// headers tries the operation's own headers, and bodies of another kind.
func (m *maker) headers() {
	for _, p := range m.op.Parameters {
		if p.In != "header" {
			continue
		}
		for _, text := range []string{"", strings.Repeat("k", 5000), "a\x00b", "é", "\x7f"} {
			if !m.accepts(m.doc.find(p.Schema), text) {
				m.add(hostile{what: fmt.Sprintf("header %s %.40q", p.Name, text), target: m.target("", ""), body: m.body(), header: []string{p.Name, text}, status: []int{422}, field: p.Name})
			}
		}
	}
	if m.op.RequestBody == nil {
		return
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml", "", "application/json; charset=latin1", "application/json\x00"} {
		m.add(hostile{what: fmt.Sprintf("Content-Type %q", kind), target: m.target("", ""), body: m.body(), header: []string{"Content-Type", kind}, status: []int{415}, field: "Content-Type"})
	}
	m.add(hostile{what: "compressed", target: m.target("", ""), body: m.body(), header: []string{"Content-Encoding", "gzip"}, status: []int{415}, field: "Content-Encoding"})
	m.add(hostile{what: "from another origin", target: m.target("", ""), body: m.body(), header: []string{"Sec-Fetch-Site", "cross-site"}, status: []int{403}})
}

// bodies are no object of JSON at all.
func (m *maker) bodies() {
	for body, status := range map[string]int{
		"x": 400, "{": 400, "{]": 400, `{"a":1,}`: 400, "{} {}": 400, "\xef\xbb\xbf{}": 400, "{\"\xff\":1}": 400, strings.Repeat("[", 20_000): 400,
		" ": 400, "NaN": 400, "null": 422, "[]": 422, `"text"`: 422, "7": 422, "true": 422, "[{}]": 422,
		`{"colour":1}`: 422, `{"__proto__":{}}`: 422, `{"\u0000":1}`: 422, `{"\ud800":1}`: 422, `{"'; DROP TABLE jobs;--":1}`: 422,
	} {
		m.add(hostile{what: "body", target: m.target("", ""), body: body, status: []int{status}})
	}
	size := 2 << 20
	if m.op.OperationID == "submit-batch" {
		size = 33 << 20
	}
	m.add(hostile{what: "body that is huge", target: m.target("", ""), body: `{"colour":"` + strings.Repeat("x", size) + `"}`, status: []int{413}, field: "body"})
}

// fields takes the document's example apart: each field left out, sent twice, of another type, out of its bounds.
func (m *maker) fields() {
	s := m.doc.find(m.op.RequestBody.Content["application/json"].Schema)
	good := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(m.body()), &good); err != nil {
		m.t.Fatal(err)
	}
	send := func(what, field string, with map[string]json.RawMessage, more string) {
		m.add(hostile{what: "body " + what, target: m.target("", ""), body: object(with, more), status: []int{422, 413}, field: field})
	}
	send("with an unknown field", "colour", good, `"colour":1`)
	for _, name := range s.Required {
		send("without "+name, name, changed(good, name, ""), "")
	}
	for name, of := range s.Properties {
		of = m.doc.find(of)
		if len(good[name]) > 0 {
			send("with "+name+" twice", name, good, strconv.Quote(name)+":"+string(good[name]))
		}
		for _, value := range m.wrongValues(of) {
			send(fmt.Sprintf("with %s %.40s", name, value), name, changed(good, name, value), "")
		}
	}
}

// wrongValues are values of JSON that a schema does not accept.
func (m *maker) wrongValues(s *openSchema) []string {
	kinds := map[string]string{"null": "null", "boolean": "true", "integer": "7", "number": "0.5", "string": `"x"`, "array": "[]", "object": "{}"}
	if s.Type == nil {
		return []string{`"\u0000"`, `"\ud800"`, `{"a":["\udc00"]}`, `{"\u0000":1}`, strings.Repeat("[", 200) + strings.Repeat("]", 200)} // any JSON, but what cannot be kept
	}
	var wrong []string
	for kind, value := range kinds {
		if kind != s.Type && (kind != "integer" || s.Type != "number") {
			wrong = append(wrong, value)
		}
	}
	switch s.Type {
	case "integer", "number":
		wrong = append(wrong, "1e400", "-1", strconv.FormatFloat(*s.Maximum+1, 'f', -1, 64), strconv.FormatFloat(*s.Minimum-1, 'f', -1, 64), "99999999999999999999")
	case "string":
		for _, text := range m.wrongFor(s) {
			quoted, _ := json.Marshal(text)
			wrong = append(wrong, string(quoted))
		}
		wrong = append(wrong, `"\ud800"`, `"\udc00\ud800"`)
	case "array":
		if m.op.OperationID != "submit-batch" { // which tells of each item in its place
			for _, value := range m.wrongValues(m.doc.find(s.Items)) {
				wrong = append(wrong, "["+value+"]")
			}
		}
		if text, err := json.Marshal(goodText(m.doc.find(s.Items))); err == nil {
			wrong = append(wrong, "["+strings.Repeat(string(text)+",", *s.MaxItems)+string(text)+"]")
		}
	case "object":
		wrong = append(wrong, `{"colour":1}`)
	}
	return wrong
}

// changed is an object with another value under a name; "" leaves it out.
func changed(object map[string]json.RawMessage, name, value string) map[string]json.RawMessage {
	other := map[string]json.RawMessage{}
	for k, v := range object {
		other[k] = v
	}
	if other[name] = json.RawMessage(value); value == "" {
		delete(other, name)
	}
	return other
}

// object writes an object, with more members at its end, as it stands: json.Marshal would mend lone surrogates.
func object(members map[string]json.RawMessage, more string) string {
	var parts []string
	for name, value := range members {
		parts = append(parts, strconv.Quote(name)+":"+string(value))
	}
	slices.Sort(parts)
	if more != "" {
		parts = append(parts, more)
	}
	return "{" + strings.Join(parts, ",") + "}"
}
