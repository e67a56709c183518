package schedules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core/jsonscan"
)

// read reads a file of schedules from a text.
func read(t *testing.T, text string) (*scheduleFile, error) {
	t.Helper()
	f, err := readSchedules((&console.App{In: strings.NewReader(text)}), "-")
	if err != nil {
		return nil, err
	}
	return f, f.err()
}

// What JSON would mean is kept digit for digit and in its order, whichever way YAML has to write it.
func TestFilesKeepWhatIsWritten(t *testing.T) {
	for text, want := range map[string]string{
		`a: 12345678901234567890123`: `{"a":12345678901234567890123}`, `a: 1.50`: `{"a":1.50}`, `a: -0`: `{"a":-0}`, `a: 1e400`: `{"a":1e400}`, `a: 1E+2`: `{"a":1E+2}`, `a: 0.0`: `{"a":0.0}`,
		`a: true`: `{"a":true}`, `a: null`: `{"a":null}`, `a: '01234'`: `{"a":"01234"}`, `a: "2026-03-01"`: `{"a":"2026-03-01"}`, `a: "yes"`: `{"a":"yes"}`, `a: ""`: `{"a":""}`,
		`a: 30 2 * * *`: `{"a":"30 2 * * *"}`, `a: 1.2.3`: `{"a":"1.2.3"}`, `a: 90s`: `{"a":"90s"}`, `a: 10.0.0.1`: `{"a":"10.0.0.1"}`, `a: 2026-03-01 is a day`: `{"a":"2026-03-01 is a day"}`, `a: v2`: `{"a":"v2"}`,
		`a: x # said`: `{"a":"x"}`, `a: "<&>\u00e9\U0001F600"`: `{"a":"<&>é😀"}`, "z: 1\n      b: 2\n      a: 3": `{"z":1,"b":2,"a":3}`, `a: [1, "1", x, [], {}]`: `{"a":[1,"1","x",[],{}]}`,
		"a: |\n        line 1\n        2\n": `{"a":"line 1\n2\n"}`, "a: >-\n        one\n        two": `{"a":"one two"}`, "a: 'it''s'": `{"a":"it's"}`, `{"y": 1, "a b": 2, on: 3}`: `{"y":1,"a b":2,"on":3}`,
		"a: &x {b: 1}\n      c: *x": `{"a":{"b":1},"c":{"b":1}}`, "a: &x {b: 1, c: 2}\n      d: {<<: *x, b: 3}": `{"a":{"b":1,"c":2},"d":{"b":3,"c":2}}`, "a: &x {b: 1}\n      c: &y {d: 2, b: 4}\n      e: {<<: [*x, *y]}": `{"a":{"b":1},"c":{"d":2,"b":4},"e":{"b":1,"d":2}}`,
		"a: plain\n        goes on": `{"a":"plain goes on"}`, "a: -x": `{"a":"-x"}`, `a: 0x`: `{"a":"0x"}`, `a: 1_a`: `{"a":"1_a"}`, `a: +`: `{"a":"+"}`, `a: .`: `{"a":"."}`, `a: 5 m`: `{"a":"5 m"}`,
	} {
		f, err := read(t, "schedules:\n  - name: s\n    type: a\n    payload:\n      "+text+"\n")
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := string(f.schedules[0].definition); got != `{"type":"a","payload":`+want+`}` {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	const document = `{"schedules": [{"name": "s", "payload": {"a": "\ud83d\ude00\/", "n": 1.0, "d": "2026-03-01"}}]}`
	if f, err := read(t, "\ufeff"+strings.ReplaceAll(document, ", ", ",\n\t")); err != nil || string(f.schedules[0].definition) != `{"payload":{"a":"😀/","n":1.0,"d":"2026-03-01"}}` {
		t.Errorf("JSON: %+v %v", f, err)
	}
}

// foreignTexts are what a message must not have: it is the parser's or the program's own.
var foreignTexts = regexp.MustCompile(`yaml|json:|main\.|client\.|did not find|could not find|unmarshal|\bstruct\b|map\[|context\)|document start|token`)

// What JSON does not have is refused by line and field, all of it in one go, and without the value, which may be a secret.
func TestFilesRefuseWhatJSONDoesNotHave(t *testing.T) {
	values := []string{
		"01234", "0777", "010", "08", "1_000", "+5", "0x1F", "0o17", "0b101", ".5", "5.", "1e", "-.5", "+1.5", "1__0", ".inf", "-.Inf", ".NaN", "12:30", "12:30:45", "190:20:30.15", "0_1", "1_0.5",
		"2026-03-01", "2026-3-1", "2026-03-01T09:00:00Z", "2026-03-01 09:00:00", "2026-03-01t09:00:00.5+02:00", "2001-12-14 21:59:43.10 -5", "2026-03-01 09:00:00 +02:00",
		"yes", "No", "ON", "off", "y", "N", "True", "FALSE", "Null", "NULL", "~", "", "=", "!!binary aGk=", "!!str 5", "!!int '5'", "!!float 5", "!foo x", "!!timestamp 2026-03-01", "!!set {a}", "! 5x",
	}
	var text strings.Builder
	text.WriteString("schedules:\n")
	for i, value := range values {
		fmt.Fprintf(&text, "  - name: s%d\n    payload: {k: %s}\n", i, value)
	}
	_, err := read(t, text.String())
	if err == nil {
		t.Fatal("all were taken")
	}
	said := strings.Split(err.Error(), "; ")
	for i, value := range values {
		place, says := fmt.Sprintf("line %d: s%d: payload.k: ", 3+2*i, i), "write it in quotes"
		if value == "" {
			says = "has no value: give it one, or leave it out"
		}
		at := slices.IndexFunc(said, func(line string) bool { return strings.HasPrefix(line, place) })
		switch {
		case value == "1e" || value == "! 5x": // text to every reader
			if at >= 0 {
				t.Errorf("%q: %s", value, said[at])
			}
		case at < 0 || !strings.Contains(said[at], says) || foreignTexts.MatchString(said[at]) || len(value) > 3 && strings.Contains(strings.TrimPrefix(said[at], place), value):
			t.Errorf("%q: %v", value, at)
		}
	}
	if len(said) != len(values)-2 {
		t.Errorf("%d faults of %d values", len(said), len(values)-2)
	}
	for text, says := range map[string]string{
		"payload: {1: x}": "line 2: s: payload.1: is a name", "payload: {2026-03-01: x}": "is a name", "payload: {true: x}": "is a name", "payload: {[a]: x}": "is a name", "payload: {null: x}": "is a name",
		"payload: {a: 1, a: 2}": "payload.a: is given twice", "type: a, type: b": "type: is given twice", "payload: {a: {b: [x, 01]}}": "payload.a.b[1]: looks like a number",
		"max_attempts: 010": "max_attempts: looks like a number", "starts_at: 2030-01-01 09:00:00": "starts_at: looks like a time", "tags: [yes, 5]": "tags[0]: looks like true",
		"payload: &p {a: *p}": "nested", "payload: &p [*p, *p, *p]": "nested", "payload: &p {<<: [*p, *p, *p]}": "merges itself", "payload: &p {<<: *p}": "merges itself", "payload: {<<: x}": "wants a mapping",
	} {
		if _, err := read(t, "schedules:\n  - {name: s, "+text+"}\n"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Where the parser stops, the message is in our words, with the line. A value that begins with what YAML has a use for, as many cron
// expressions do, is named, and what is behind it is looked at too.
func TestFilesThatAreNoYAML(t *testing.T) {
	for text, says := range map[string][]string{
		"schedules:\n  - name: a\n    cron: */5 * * * *\n    type: a\n  - name: b\n    cron: * * * * *  # each\n    payload: {zip: 01234}\n  - {name: c, cron: *5 * * * *, payload: {a: 1_0}}\n  - name: d\n    cron: @daily\n    type: !x y": {
			"line 3: cron: begins with *, which YAML has a use for: write it in quotes", "line 6: cron: begins with *", "line 7: b: payload.zip: ", "line 8: cron: begins with *", "line 8: c: payload.a: ", "line 10: cron: begins with @", "line 11: d: type: has a tag",
		},
		"schedules: [{name: a, cron: */5 1,2 * * *, type: 01}]\n": {"line 1: cron: begins with *", "line 1: a: type: looks like"},
		"schedules:\r\n  - name: a\r\n    cron: */5 * * * *\r\n":  {"line 3: cron: begins with *"},
		"schedules:\n  - cron: *daily\n":                          {"line 2: cron: begins with *"},
		"schedules:\n  - name: `a`\n":                             {"line 2: name: begins with `"},
		"schedules:\n  - payload: %d\n":                           {"line 2: payload: begins with %"},
		"schedules:\n\t- name: a\n":                               {"line 2: is indented with a tab"},
		"schedules:\n  - name: a: b\n":                            {"line 2: has one \": \" too many"},
		"schedules:\n  - {name: a\n":                              {"line 2: opens a bracket or a quotation mark that is not closed"},
		"schedules:\n  - name: 'a\n":                              {"line 2: opens a bracket or a quotation mark that is not closed"},
		"schedules:\n  - payload: \"\\q\"\n":                      {"line 2: has an escape"},
		"schedules:\n  - [*a]\n":                                  {"line 2: begins a value with *"},
		"schedules:\n  - name: a\n   type: b\n":                   {"line 3: is not YAML"},
		"schedules:\n  - a\n  - 5\n":                              {"line 2: must be a schedule", "line 3: must be a schedule"},
		"schedules: {a: b}\n":                                     {"line 1: schedules: must be a list"},
		"- a\n":                                                   {"line 1: must be a mapping"},
		"x\n":                                                     {"line 1: must be a mapping"},
		"schedules: []\n--- \nschedules: []\n":                    {"line 2: begins a second document"},
		"a\x01b":                                                  {"line 1: holds a control character"},
		"\xff\xfes\x00c\x00":                                      {"is encoded in UTF-16; it must be UTF-8"},
		"s\x00c\x00h\x00":                                         {"looks like UTF-16; it must be UTF-8"},
		"schedules: # \xe9\n":                                     {"is not valid UTF-8: byte 0xe9 at offset 13"},
	} {
		_, err := read(t, text)
		for _, part := range says {
			if err == nil || !strings.Contains(err.Error(), part) || foreignTexts.MatchString(err.Error()) {
				t.Errorf("%q: %v\nwant %q", text, err, part)
			}
		}
	}
}

func FuzzReadSchedules(f *testing.F) {
	for _, text := range []string{"schedules:\n  - {name: a, cron: */5 * * * *, payload: {a: [1, 01, &x y, *x]}}\n", "a: &a [*a]\n<<: {b: 1}\n", "{\"schedules\":[{\"name\":1}]}", "? [a]\n: !!x |\n  b\n", "\ufeff---\n...\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := readSchedules((&console.App{In: strings.NewReader(text)}), "-")
		if err != nil {
			return
		}
		for _, s := range file.schedules {
			if _, err := jsonscan.Scan(s.definition); err != nil {
				t.Fatalf("%q: %s: %v", text, s.definition, err)
			}
		}
		if err := file.err(); err != nil && foreignTexts.MatchString(err.Error()) && !foreignTexts.MatchString(text) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
