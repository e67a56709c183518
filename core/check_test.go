package core

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

var checkNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// nested is an array of arrays, depth deep.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func TestCheckNewJobAccepts(t *testing.T) {
	for name, change := range map[string]func(*NewJob){
		"only a type":            func(j *NewJob) {},
		"longest type":           func(j *NewJob) { j.Type = strings.Repeat("t", 200) },
		"type with every mark":   func(j *NewJob) { j.Type = "Mail.send/v2:eu_west-1" },
		"type of one letter":     func(j *NewJob) { j.Type = "x" },
		"payload null":           func(j *NewJob) { j.Payload = json.RawMessage(`null`) },
		"payload of any number":  func(j *NewJob) { j.Payload = json.RawMessage(`[1e400,-0,12345678901234567890123]`) },
		"payload nested 100":     func(j *NewJob) { j.Payload = json.RawMessage(nested(100)) },
		"payload of 1 MiB":       func(j *NewJob) { j.Payload = json.RawMessage(`"` + strings.Repeat("x", MaxPayloadBytes-2) + `"`) },
		"tenant of any language": func(j *NewJob) { j.Tenant = "Ärzte 队列 👩‍⚕️" },
		"longest dedupe key":     func(j *NewJob) { j.DedupeKey = strings.Repeat("é", 256) },
		"run_at ten years ago":   func(j *NewJob) { j.RunAt = checkNow.AddDate(-10, 0, 0) },
		"run_at in a century":    func(j *NewJob) { j.RunAt = checkNow.AddDate(100, 0, 0) },
		"delay of a century":     func(j *NewJob) { j.Delay = MaxDelay },
		"expires after run_at":   func(j *NewJob) { j.RunAt, j.ExpiresAt = checkNow, checkNow.Add(time.Microsecond) },
		"timeout of a day":       func(j *NewJob) { j.Timeout = 24 * time.Hour },
		"backoff of 20":          func(j *NewJob) { j.Backoff = slices.Repeat([]time.Duration{0, MaxBackoffWait}, 10) },
		"attempts":               func(j *NewJob) { j.MaxAttempts = 100 },
		"20 tags":                func(j *NewJob) { j.Tags = slices.Repeat([]string{strings.Repeat("t", 64)}, 20) },
		"target": func(j *NewJob) {
			j.Target = json.RawMessage(`{"url":"https://example.com/x?y","headers":{"x-a":"b c"}}`)
		},
		"traceparent": func(j *NewJob) { j.Trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
	} {
		j := NewJob{Type: "echo"}
		if change(&j); checkNewJob(&j, checkNow) != nil {
			t.Errorf("%s: %v", name, checkNewJob(&j, checkNow))
		}
	}
}

func TestCheckNewJobRefuses(t *testing.T) {
	type refusal struct {
		field  string
		change func(*NewJob)
	}
	for name, want := range map[string]refusal{
		"payload not JSON":       {"payload", func(j *NewJob) { j.Payload = json.RawMessage(`{`) }},
		"payload empty":          {"payload", func(j *NewJob) { j.Payload = json.RawMessage(``) }},
		"payload with NUL":       {"payload", func(j *NewJob) { j.Payload = json.RawMessage(`{"a":"\u0000"}`) }},
		"payload lone surrogate": {"payload", func(j *NewJob) { j.Payload = json.RawMessage(`"\ud800"`) }},
		"payload not UTF-8":      {"payload", func(j *NewJob) { j.Payload = json.RawMessage("\"\xc3\"") }},
		"payload nested 101":     {"payload", func(j *NewJob) { j.Payload = json.RawMessage(nested(101)) }},
		"payload too large":      {"payload", func(j *NewJob) { j.Payload = json.RawMessage(`"` + strings.Repeat("x", MaxPayloadBytes) + `"`) }},
		"priority":               {"priority", func(j *NewJob) { j.Priority = 4 }},
		"tenant too long":        {"tenant", func(j *NewJob) { j.Tenant = strings.Repeat("t", 256) }},
		"tenant with newline":    {"tenant", func(j *NewJob) { j.Tenant = "a\nb" }},
		"tenant with NUL":        {"tenant", func(j *NewJob) { j.Tenant = "a\x00b" }},
		"tenant with U+2028":     {"tenant", func(j *NewJob) { j.Tenant = "a\u2028b" }},
		"tenant with U+FFFF":     {"tenant", func(j *NewJob) { j.Tenant = "a\uffff" }},
		"tenant not UTF-8":       {"tenant", func(j *NewJob) { j.Tenant = "\xff" }},
		"dedupe key too long":    {"dedupe_key", func(j *NewJob) { j.DedupeKey = strings.Repeat("é", 257) }},
		"dedupe key C1 control":  {"dedupe_key", func(j *NewJob) { j.DedupeKey = "\u0085" }},
		"run_at year 10000":      {"run_at", func(j *NewJob) { j.RunAt = time.Date(10000, 1, 2, 0, 0, 0, 0, time.UTC) }},
		"run_at year 20231":      {"run_at", func(j *NewJob) { j.RunAt = time.Date(20231, 1, 1, 0, 0, 0, 0, time.UTC) }},
		"run_at before Christ":   {"run_at", func(j *NewJob) { j.RunAt = time.Date(-44, 3, 15, 0, 0, 0, 0, time.UTC) }},
		"run_at long ago":        {"run_at", func(j *NewJob) { j.RunAt = checkNow.AddDate(-10, 0, 0).Add(-1) }},
		"run_at beyond":          {"run_at", func(j *NewJob) { j.RunAt = checkNow.AddDate(100, 0, 0).Add(1) }},
		"delay negative":         {"delay", func(j *NewJob) { j.Delay = -1 }},
		"delay absurd":           {"delay", func(j *NewJob) { j.Delay = MaxDelay + 1 }},
		"delay beside run_at":    {"delay", func(j *NewJob) { j.RunAt, j.Delay = checkNow, time.Second }},
		"expires at run_at":      {"expires_at", func(j *NewJob) { j.RunAt, j.ExpiresAt = checkNow, checkNow }},
		"expires within delay":   {"expires_at", func(j *NewJob) { j.Delay, j.ExpiresAt = time.Hour, checkNow.Add(time.Hour) }},
		"expires in the past":    {"expires_at", func(j *NewJob) { j.ExpiresAt = checkNow }},
		"expires beyond":         {"expires_at", func(j *NewJob) { j.ExpiresAt = checkNow.AddDate(101, 0, 0) }},
		"timeout too short":      {"timeout", func(j *NewJob) { j.Timeout = time.Second - 1 }},
		"timeout too long":       {"timeout", func(j *NewJob) { j.Timeout = 24*time.Hour + 1 }},
		"timeout negative":       {"timeout", func(j *NewJob) { j.Timeout = -time.Hour }},
		"attempts negative":      {"max_attempts", func(j *NewJob) { j.MaxAttempts = -1 }},
		"attempts 101":           {"max_attempts", func(j *NewJob) { j.MaxAttempts = 101 }},
		"backoff empty":          {"backoff", func(j *NewJob) { j.Backoff = []time.Duration{} }},
		"backoff of 21":          {"backoff", func(j *NewJob) { j.Backoff = make([]time.Duration, 21) }},
		"backoff negative":       {"backoff[1]", func(j *NewJob) { j.Backoff = []time.Duration{0, -1} }},
		"backoff too long":       {"backoff[0]", func(j *NewJob) { j.Backoff = []time.Duration{MaxBackoffWait + 1} }},
		"tags of 21":             {"tags", func(j *NewJob) { j.Tags = make([]string, 21) }},
		"tag empty":              {"tags[1]", func(j *NewJob) { j.Tags = []string{"a", ""} }},
		"tag too long":           {"tags[0]", func(j *NewJob) { j.Tags = []string{strings.Repeat("t", 65)} }},
		"tag with tab":           {"tags[0]", func(j *NewJob) { j.Tags = []string{"a\tb"} }},
		"target not an object":   {"target", func(j *NewJob) { j.Target = json.RawMessage(`"https://example.com"`) }},
		"target unknown member":  {"target", func(j *NewJob) { j.Target = json.RawMessage(`{"url":"https://a","verb":"GET"}`) }},
		"target ftp":             {"target.url", func(j *NewJob) { j.Target = json.RawMessage(`{"url":"ftp://a"}`) }},
		"target with password":   {"target.url", func(j *NewJob) { j.Target = json.RawMessage(`{"url":"https://u:p@a"}`) }},
		"target without host":    {"target.url", func(j *NewJob) { j.Target = json.RawMessage(`{"url":"https:///a"}`) }},
		"target header split":    {"target.headers", func(j *NewJob) { j.Target = json.RawMessage(`{"url":"https://a","headers":{"a":"b\r\nc"}}`) }},
		"target header name":     {"target.headers", func(j *NewJob) { j.Target = json.RawMessage(`{"url":"https://a","headers":{"a b":"c"}}`) }},
		"traceparent":            {"traceparent", func(j *NewJob) { j.Trace = "00-x" }},
	} {
		j := NewJob{Type: "echo"}
		want.change(&j)
		var errs FieldErrors
		if err := checkNewJob(&j, checkNow); !errors.As(err, &errs) || len(errs) != 1 || errs[0].Field != want.field {
			t.Errorf("%s: got %v, want one error that names %s", name, err, want.field)
		}
	}
}

// Names that need escaping somewhere are refused where they come in.
// Who submits a job is not told of a definition that somebody damaged in the store: what is wrong in it counts for nothing.
func TestDamagedDefinitionsAreLeftOut(t *testing.T) {
	week := 7 * 24 * time.Hour
	for _, damaged := range []JobType{
		{Timeout: -1}, {Timeout: MaxTimeout + 1}, {Timeout: math.MaxInt64}, {MaxAttempts: -3}, {MaxAttempts: MaxAttempts + 1},
		{Backoff: []time.Duration{}}, {Backoff: []time.Duration{time.Second, -1}}, {Backoff: []time.Duration{MaxBackoffWait + 1}},
		{Backoff: make([]time.Duration, MaxBackoff+1)}, {ExpiresAfter: -week}, {ExpiresAfter: 1}, {ExpiresAfter: MaxExpiresAfter + 1},
	} {
		checked, err := CheckNewJob(NewJob{Type: "a"}, damaged, time.Now())
		if err != nil {
			t.Errorf("%+v: %v", damaged, err)
			continue
		}
		if j := checked.NewJob(); j.MaxAttempts != DefaultMaxAttempts || j.Timeout != 0 || j.Backoff != nil || j.ExpiresAfter != 0 {
			t.Errorf("%+v: %+v", damaged, j)
		}
	}
	sound := JobType{Timeout: time.Minute, MaxAttempts: 2, Backoff: []time.Duration{0, time.Hour}, ExpiresAfter: week}
	checked, err := CheckNewJob(NewJob{Type: "a"}, sound, time.Now())
	if j := checked.NewJob(); err != nil || j.MaxAttempts != 2 || j.Timeout != time.Minute || len(j.Backoff) != 2 || j.ExpiresAfter != week {
		t.Errorf("%+v, %v", j, err)
	}
}

func TestCheckTypeCharset(t *testing.T) {
	for _, name := range []string{
		"", "a+b", "a b", "100%", "#x", "..", ".", "a..b", "a//b", "a/../b", "/a", "a/", "a.", "1a", "-a", "naïve", "队列",
		"emoji😀", "?x=1", "a\n", "a\x00", "<b>", `a"b`, "a'b", "x'); DROP TABLE jobs;--", `a\b`, "a,b", strings.Repeat("t", 201),
	} {
		j := NewJob{Type: name}
		var f *FieldError
		if err := checkNewJob(&j, checkNow); !errors.As(err, &f) || f.Field != "type" {
			t.Errorf("%.40q: got %v, want it refused", name, err)
		}
	}
	for _, name := range []string{"foo/bar.baz", "a:b", "a-b_c", "A9", "a.b.c/d", "a--b"} {
		if err := checkNewJob(&NewJob{Type: name}, checkNow); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// What is finer than a microsecond is cut off, once, here.
func TestCheckNewJobKeepsMicroseconds(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	j := NewJob{Type: "echo", RunAt: time.Date(2026, 3, 1, 13, 0, 0, 123456789, berlin), ExpiresAt: time.Date(2026, 3, 2, 13, 0, 0, 999, berlin)}
	if err := checkNewJob(&j, checkNow); err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC); j.RunAt != want {
		t.Errorf("run_at %v, want %v", j.RunAt, want)
	}
	if want := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC); j.ExpiresAt != want {
		t.Errorf("expires_at %v, want %v", j.ExpiresAt, want)
	}
	j = NewJob{Type: "echo", Delay: 1999 * time.Nanosecond}
	if err := checkNewJob(&j, checkNow); err != nil || j.Delay != time.Microsecond {
		t.Errorf("delay %v, %v", j.Delay, err)
	}
}

func TestCheckNewJobNamesAllFaults(t *testing.T) {
	j := NewJob{Priority: 9, Tenant: "\x01", Timeout: 1, MaxAttempts: -1, Delay: -1, Tags: []string{"", "\x01"}}
	var errs FieldErrors
	if err := checkNewJob(&j, checkNow); !errors.As(err, &errs) {
		t.Fatal(err)
	}
	var fields []string
	for _, e := range errs {
		fields = append(fields, e.Field)
	}
	if want := []string{"type", "priority", "tenant", "delay", "max_attempts", "timeout", "tags[0]", "tags[1]"}; !slices.Equal(fields, want) {
		t.Errorf("got %v, want %v", fields, want)
	}
}
