package rulestest

import (
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

func typeCases() []Case {
	var all []Case
	for name, text := range map[string]string{
		"longest": strings.Repeat("t", core.MaxTypeBytes), "every mark": "Mail.send/v2:eu_west-1", "one letter": "x", "capital": "Z9", "double marks": "a--b__c::d",
		"mark at the end": "a_", "colon at the end": "a:",
	} {
		all = append(all, say("type "+name, "", func(j *core.NewJob) { j.Type = text }))
	}
	for name, text := range map[string]string{
		"empty": "", "too long": strings.Repeat("t", core.MaxTypeBytes+1), "digit first": "1a", "mark first": "_a", "dot first": ".a", "slash first": "/a",
		"dot at the end": "a.", "slash at the end": "a/", "dots": "a..b", "climbing": "../x", "dot and slash": "a./b", "slashes": "a//b", "space": "a b", "space after": "a ",
		"newline after": "a\n", "accent": "é", "long s": "ſ", "Turkish dotless i": "ı", "Kelvin sign": "\u212a", "full width": "\uff41", "emoji": "🎉",
		"quote": "a'b", "double quote": `a"b`, "backslash": `a\b`, "percent": "a%b", "comma": "a,b", "question mark": "a?b", "tab": "a\tb", "DEL": "a\x7f", "injection": "a');DROP TABLE belfry.jobs;--",
	} {
		all = append(all, say("type "+name, "type", func(j *core.NewJob) { j.Type = text }))
	}
	for _, text := range reservedTexts {
		all = append(all, say("type "+text, "type", func(j *core.NewJob) { j.Type = text }))
	}
	for _, text := range nearlyReserved {
		all = append(all, say("type "+text, "", func(j *core.NewJob) { j.Type = text }))
	}
	return append(all,
		say("type with NUL", "type", func(j *core.NewJob) { j.Type = "a\x00" }).badValue(),
		say("type not UTF-8", "type", func(j *core.NewJob) { j.Type = "a\xff" }).badBody().badValue(),
		Case{Name: "type missing", Field: "type", Document: `{}`, Call: "NULL"},
		Case{Name: "type null", Field: "type", Document: `{"type":null}`},
		Case{Name: "type a number", Field: "type", Document: `{"type":7}`},
		Case{Name: "type twice", Field: "type", Document: `{"type":"echo","type":"echo"}`},
		sayHTTP("unknown field", "paylod", `"paylod":1`),
	)
}

func priorityCases() []Case {
	return []Case{
		say("priority critical", "", func(j *core.NewJob) { j.Priority = core.Critical }),
		say("priority default", "", func(j *core.NewJob) { j.Priority = core.Default }),
		say("priority bulk", "", func(j *core.NewJob) { j.Priority = core.Bulk }),
		say("priority out of range", "priority", func(j *core.NewJob) { j.Priority = 4 }),
		say("priority negative", "priority", func(j *core.NewJob) { j.Priority = -1 }),
		sayBoth("priority unknown", "priority", `"priority":"urgent"`, `priority => 'urgent'`),
		sayBoth("priority in capitals", "priority", `"priority":"Critical"`, `priority => 'Critical'`),
		sayBoth("priority empty", "priority", `"priority":""`, `priority => ''`),
		sayBoth("priority with a space", "priority", `"priority":"bulk "`, `priority => 'bulk '`),
		sayHTTP("priority a number", "priority", `"priority":1`),
		saySQL("priority null", "", `priority => NULL`),
	}
}

// goodTexts and badTexts are for every field that takes a text of any language; those that no text can hold stand apart.
var (
	goodTexts = map[string]string{
		"of any language": "Ärzte 队列 עברית", "emoji": "👩‍⚕️🎉", "combining": "e\u0301", "quotes": `o'b"r\{ien},%s $1`, "injection": "x'); DROP TABLE belfry.jobs;--",
		"spaces": "  a  ", "no-break space": "\u00a0", "replacement character": "\uFFFD", "byte order mark": "\ufeff", "right to left": "\u202etxt", "private use": "\ue000",
		"last before FDD0": "\ufdcf", "after FDEF": "\ufdf0", "FFFD of plane 1": "\U0001fffd", "tilde": "~", "NULL the word": "NULL", "slashes": "a/b/../c",
	}
	badTexts = map[string]string{
		"newline": "a\nb", "tab": "a\tb", "escape": "\x1b[2J", "U+0001": "\x01", "U+001F": "\x1f", "DEL": "a\x7f", "U+0080": "\u0080", "C1 control": "é\u0085", "U+009F": "\u009f",
		"U+2028": "a\u2028b", "U+2029": "a\u2029b", "U+FDD0": "\ufdd0", "U+FDEF": "\ufdef", "U+FFFE": "\ufffe", "U+FFFF": "a\uffff", "U+1FFFE": "\U0001fffe", "U+10FFFF": "\U0010ffff",
	}
)

// reservedTexts begin as Belfry's own types and dedupe keys do; nearlyReserved do not.
var (
	reservedTexts  = []string{"belfry.alert", "belfry.x", "Belfry.alert", "BELFRY.ALERT", "belfry.alert.mine", "belfry.a/b"}
	nearlyReserved = []string{"belfry", "belfry-alert", "belfryalert", "belfry:alert", "belfry/alert", "my.belfry.alert", "belfrys.alert"}
)

func textCases() []Case {
	var all []Case
	for _, text := range append(reservedTexts, "belfry.", "belfry. ", "belfry.alert 1 raised") {
		all = append(all, say("dedupe_key "+text, "dedupe_key", func(j *core.NewJob) { j.DedupeKey = text }))
	}
	for _, text := range append(nearlyReserved, " belfry.alert", "belfry alert 1 raised", "ｂelfry.alert") {
		all = append(all, say("dedupe_key "+text, "", func(j *core.NewJob) { j.DedupeKey = text }))
	}
	for field, set := range map[string]func(*core.NewJob, string){
		"tenant":     func(j *core.NewJob, text string) { j.Tenant = text },
		"dedupe_key": func(j *core.NewJob, text string) { j.DedupeKey = text },
	} {
		longest := map[string]int{"tenant": core.MaxTenantBytes, "dedupe_key": core.MaxKeyBytes}[field]
		with := func(name, verdict, text string) Case {
			return say(field+" "+name, verdict, func(j *core.NewJob) { set(j, text) })
		}
		for name, text := range goodTexts {
			all = append(all, with(name, "", text))
		}
		for name, text := range badTexts {
			all = append(all, with(name, field, text))
		}
		all = append(all,
			with("longest", "", strings.Repeat("x", longest)),
			with("too long", field, strings.Repeat("x", longest+1)),
			with("longest in bytes", "", strings.Repeat("é", longest/2)),
			with("too long in bytes", field, strings.Repeat("é", longest/2+1)),
			with("NUL", field, "a\x00b").badValue(),
			with("not UTF-8", field, "a\xff").badBody().badValue(),
			with("surrogate in UTF-8", field, "\xed\xa0\x80").badBody().badValue(),
			sayHTTP(field+" lone surrogate", field, quote(field)+`:"\ud800"`),
			sayHTTP(field+" a number", field, quote(field)+`:1`),
			sayHTTP(field+" null", field, quote(field)+`:null`),
			saySQL(field+" null", "", field+" => NULL"),
		)
	}
	return append(all,
		sayBoth("tenant empty", "tenant", `"tenant":""`, `tenant => ''`),
		saySQL("tenant empty beside a traceparent that is, as Go programs of the version before send it", "", `tenant => '', traceparent => ''`),
		sayBoth("dedupe_key empty", "dedupe_key", `"dedupe_key":""`, `dedupe_key => ''`),
	)
}

func tagCases() []Case {
	tags := func(name, field string, tags ...string) Case {
		return say("tags "+name, field, func(j *core.NewJob) { j.Tags = tags })
	}
	all := []Case{
		tags("20", "", slices.Repeat([]string{strings.Repeat("t", core.MaxTagBytes)}, core.MaxTags)...),
		tags("21", "tags", slices.Repeat([]string{"t"}, core.MaxTags+1)...),
		tags("twice the same", "", "a", "a"),
		tags("in bytes", "", strings.Repeat("é", core.MaxTagBytes/2)),
		tags("too long", "tags[1]", "a", strings.Repeat("t", core.MaxTagBytes+1)),
		tags("one empty", "tags[1]", "a", ""),
		tags("several bad", "tags[0]", "\n", "a", ""),
		tags("NUL", "tags[0]", "a\x00").badValue(),
		tags("not UTF-8", "tags[0]", "\xc3").badBody().badValue(),
		sayBoth("tags none", "", `"tags":[]`, `tags => '{}'`),
		sayHTTP("tags one null", "tags[1]", `"tags":["a",null]`),
		saySQL("tags one null", "tags[1]", `tags => ARRAY['a', NULL]`),
		sayHTTP("tags a text", "tags", `"tags":"a"`),
		saySQL("tags a text", "tags", `tags => 'a'`).badValue(),
		sayHTTP("tags in tags", "tags[0]", `"tags":[["a"]]`),
		saySQL("tags in tags", "tags", `tags => ARRAY[['a', 'b'], ['c', 'd']]`),
		saySQL("tags counted from 5", "", `tags => '[5:6]={a,b}'`),
		saySQL("tags null", "", `tags => NULL`),
	}
	for name, text := range goodTexts {
		all = append(all, tags(name, "", text))
	}
	for name, text := range badTexts {
		all = append(all, tags(name, "tags[0]", text))
	}
	return all
}

func traceCases() []Case {
	trace := func(name, field, text string) Case {
		return say("traceparent "+name, field, func(j *core.NewJob) { j.Trace = text })
	}
	return []Case{
		trace("whole", "", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
		trace("version 01", "traceparent", "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
		trace("capitals", "traceparent", "00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01"),
		trace("short", "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0"),
		trace("long", "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-011"),
		trace("newline after", "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n"),
		trace("a word", "traceparent", "trace"),
		saySQL("traceparent empty", "", `traceparent => ''`),
		saySQL("traceparent null", "", `traceparent => NULL`),
	}
}
