package rulestest

import (
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// nested is an array of arrays, or an object of objects, depth deep.
func nested(open, inner, end string, depth int) string {
	return strings.Repeat(open, depth) + inner + strings.Repeat(end, depth)
}

// GoodPayloads are texts that many a reader and writer of JSON would change, by name. They are kept byte for byte.
func GoodPayloads() map[string]string {
	all := map[string]string{
		"of 1 MiB":         `"` + strings.Repeat("x", core.MaxPayloadBytes-2) + `"`,
		"of 1 MiB, pairs":  `"` + strings.Repeat(`\ud83d\ude00`, (core.MaxPayloadBytes-6)/12) + `"`,
		"of 1 MiB, values": "[" + strings.Repeat(`{},`, (core.MaxPayloadBytes-4)/3) + "{}]",
		"nested 100":       nested("[", "", "]", 100), "objects 100": nested(`{"a":`, "1", "}", 100), "mixed 100": nested(`{"[[":[`, `"]}"`, "]}", 50),
		"brackets in a text": `"` + nested("[", "", "]", 500) + nested("{", "", "}", 500) + `"`, "quotes and brackets": `["\"` + strings.Repeat("[", 200) + `\\"]`,
		"side by side": "[" + strings.Repeat("[[]],", 200) + "[]]", "only opened in texts": `["` + strings.Repeat("[", 200) + `"]`,
	}
	for _, text := range []string{
		`null`, `{}`, `[]`, `""`, `0`, `false`, `true`, `-0`, `-0.0`, `1e5`, `1E+5`, `1e-400`, `1e400`, `1e131073`, `0.1`, `1.00`, `12345678901234567890123`,
		`9007199254740993`, `-9223372036854775808`, `{ "a" :	1 ,` + "\n\r" + ` "b":[ ] }`, `{"a":1,"a":2}`, `{"b":1,"a":2}`, `{"":""}`, `"é"`, `"\u00e9"`, `"\/"`, `"< > & \u003c"`,
		"\"\u2028\u2029\x7f\"", `"\b\f\n\r\t\"\\"`, `"😀"`, `"\ud83d\ude00"`, `"\uD83D\uDE00"`, `"\udbff\udfff\ud800\udc00"`, `"\ufffd"`, "\"\uFFFD\uffff\"", `"\\u0000"`, `"\\\\ud800"`, `"\\\ud83d\ude00"`,
		`"\ud7ff\ue000\u0001"`, `"\u000"`[:6] + `1"`, `{"é":"<script>'); DROP TABLE belfry.jobs;--"}`, `"%s $1 {}"`,
	} {
		all[text] = text
	}
	return all
}

func payloadCases() []Case {
	var all []Case
	for name, text := range GoodPayloads() {
		all = append(all, say("payload "+name, "", payload(text)))
	}
	for name, text := range map[string]string{
		"too large": `"` + strings.Repeat("x", core.MaxPayloadBytes-1) + `"`, "too large in bytes": `"` + strings.Repeat("é", core.MaxPayloadBytes/2) + `"`,
		"NUL": `{"a":["\u0000"]}`, "NUL in a name": `{"\u0000":1}`, "NUL after a backslash": `"\\\u0000"`, "NUL after é": `"é\u0000"`, "NUL after an escaped one": `"\\u0000\u0000"`,
		"high surrogate": `"\ud83d"`, "low surrogate": `"\ude00"`, "swapped surrogates": `"\ude00\ud83d"`, "two high ones": `"\ud83d\ud83d\ude00"`, "two low ones": `"\ud83d\ude00\ude00"`,
		"high, then a letter": `"\ud83dx\ude00"`, "high, then an escape": `"\ud83d\n"`, "high, then an escaped backslash": `"\ud83d\\ude00"`, "capitals": `"\uDBFF"`, "surrogate in a name": `{"\udfff":1}`,
		"surrogate after é": `["é","\\","\ud800"]`, "NUL after a surrogate": `"\ud83d\u0000"`, "halves in two texts": `["\ud83d","\ude00"]`,
		"nested 101": nested("[", "", "]", 101), "objects 101": nested(`{"a":`, "1", "}", 101), "mixed 101": nested(`{"[]":[`, `[]`, "]}", 50),
		"nested 101 late": "[" + strings.Repeat("1,", 1000) + nested("[", `"]]"`, "]", 100) + "]", "nested 2000": nested("[", "", "]", 2000), "deep between texts": `["\"]",` + nested("[", `"\\"`, "]", 100) + `]`,
	} {
		all = append(all, say("payload "+name, "payload", payload(text)))
	}
	for name, text := range map[string]string{
		"cut off": `{`, "not JSON": `hello`, "two values": `1 2`, "trailing comma": `[1,]`, "single quotes": `{'a':1}`, "comment": `/**/1`, "NaN": `NaN`, "leading zero": `01`, "plus sign": `+1`, "no digits": `1.`,
		"bare control character": "\"a\nb\"", "bad escape": `"\q"`, "short escape": `"\u12"`, "unended": `"a`, "byte order mark": "\xef\xbb\xbf{}", "form feed": "\f1", "no-break space": "\u00a01",
		"not UTF-8": "\"\xff\"", "surrogate in UTF-8": "\"\xed\xa0\x80\"", "NUL byte": "\"\x00\"",
	} {
		all = append(all, say("payload "+name, "payload", payload(text)).badBody().badValue())
	}
	return append(all,
		say("payload empty", "payload", payload("")).without("http").badValue(),
		saySQL("payload null", "", `payload => NULL`),
		saySQL("payload made of values", "", `payload => json_build_object('a', 1, 'b', ARRAY[1, 2])`),
		saySQL("payload of white space and a value", "", `payload => E' \n\t{ } '`),
		sayHTTP("payload twice", "payload", `"payload":1,"payload":2`),
	)
}
