package rulestest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Case is one job. What a side has no words for is left out there.
type Case struct {
	Name  string
	Field string // the first that is at fault; "" means that the job is accepted

	Job      *core.NewJob // as Go says it; nil: it cannot
	Document string       // the body of POST /v1/jobs; "": HTTP cannot say it
	Call     string       // named arguments of belfry.submit; "": SQL cannot say it
	Values   []any        // the parameters of Call, all of them texts

	BadBody  bool // HTTP refuses the whole body before any field is looked at
	BadValue bool // PostgreSQL refuses a value before the function is entered, and so names no field
}

// Cases is the table. Times in it are relative to now, which must be that of all sides, give or take some minutes.
func Cases(now time.Time) []Case {
	return slices.Concat(typeCases(), payloadCases(), priorityCases(), textCases(), tagCases(), traceCases(),
		timeCases(now.UTC().Truncate(time.Microsecond)), attemptCases(), timeoutCases(), backoffCases(), targetCases())
}

// say is a case that Go can say, and the others after it.
func say(name, field string, change func(*core.NewJob)) Case {
	j := core.NewJob{Type: "echo"}
	change(&j)
	c := Case{Name: name, Field: field, Job: &j, Document: document(&j)}
	c.Call, c.Values = call(&j)
	return c
}

// sayBoth is a case for HTTP and SQL: to Go a zero is the same as nothing.
func sayBoth(name, field, members, arguments string) Case {
	return Case{Name: name, Field: field, Document: `{"type":"echo",` + members + `}`, Call: "'echo', " + arguments}
}

func sayHTTP(name, field, members string) Case {
	return Case{Name: name, Field: field, Document: `{"type":"echo",` + members + `}`}
}

func saySQL(name, field, arguments string) Case {
	return Case{Name: name, Field: field, Call: "'echo', " + arguments}
}

// without leaves out what HTTP or SQL would say otherwise.
func (c Case) without(sides ...string) Case {
	if slices.Contains(sides, "http") {
		c.Document = ""
	}
	if slices.Contains(sides, "sql") {
		c.Call, c.Values = "", nil
	}
	return c
}

func (c Case) badBody() Case  { c.BadBody = true; return c }
func (c Case) badValue() Case { c.BadValue = true; return c }

// document is the body that means j; "" where it holds what no body can.
func document(j *core.NewJob) string {
	if j.Trace != "" {
		return "" // it is a header, and a malformed one counts as none
	}
	members := []string{`"type":` + quote(j.Type)}
	add := func(name string, there bool, value func() string) {
		if there {
			members = append(members, quote(name)+":"+value())
		}
	}
	add("payload", j.Payload != nil, func() string { return string(j.Payload) })
	add("priority", j.Priority != 0, func() string { return quote(j.Priority.String()) })
	add("tenant", j.Tenant != "", func() string { return quote(j.Tenant) })
	add("dedupe_key", j.DedupeKey != "", func() string { return quote(j.DedupeKey) })
	add("run_at", !j.RunAt.IsZero(), func() string { return quote(j.RunAt.Format(time.RFC3339Nano)) })
	add("delay", j.Delay != 0, func() string { return quote(j.Delay.String()) })
	add("expires_at", !j.ExpiresAt.IsZero(), func() string { return quote(j.ExpiresAt.Format(time.RFC3339Nano)) })
	add("max_attempts", j.MaxAttempts != 0, func() string { return strconv.Itoa(j.MaxAttempts) })
	add("timeout", j.Timeout != 0, func() string { return quote(j.Timeout.String()) })
	add("backoff", j.Backoff != nil, func() string { return list(j.Backoff, func(d time.Duration) string { return quote(d.String()) }) })
	add("target", j.Target != nil, func() string { return string(j.Target) })
	add("tags", j.Tags != nil, func() string { return list(j.Tags, quote) })
	return "{" + strings.Join(members, ",") + "}"
}

func list[T any](all []T, text func(T) string) string {
	parts := make([]string, len(all))
	for i, v := range all {
		parts[i] = text(v)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// quote writes a JSON string of exactly these bytes, valid or not.
func quote(text string) string {
	b := []byte{'"'}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

// call is the call that means j. Arrays are sent as JSON, so that no element needs PostgreSQL's own quoting.
func call(j *core.NewJob) (arguments string, values []any) {
	parts := []string{"type => $1::text"}
	values = []any{j.Type}
	add := func(name, sql string, there bool, value func() string) {
		if there {
			values = append(values, value())
			parts = append(parts, name+" => "+strings.ReplaceAll(sql, "$", "$"+strconv.Itoa(len(values))))
		}
	}
	add("payload", "$::text::json", j.Payload != nil, func() string { return string(j.Payload) })
	add("priority", "$::text", j.Priority != 0, func() string { return j.Priority.String() })
	add("tenant", "$::text", j.Tenant != "", func() string { return j.Tenant })
	add("dedupe_key", "$::text", j.DedupeKey != "", func() string { return j.DedupeKey })
	add("run_at", "$::text::timestamptz", !j.RunAt.IsZero(), func() string { return j.RunAt.Format("2006-01-02 15:04:05.999999Z07:00") })
	add("delay", "$::text::interval", j.Delay != 0, func() string { return span(j.Delay) })
	add("expires_at", "$::text::timestamptz", !j.ExpiresAt.IsZero(), func() string { return j.ExpiresAt.Format("2006-01-02 15:04:05.999999Z07:00") })
	add("max_attempts", "$::text::integer", j.MaxAttempts != 0, func() string { return strconv.Itoa(j.MaxAttempts) })
	add("timeout", "$::text::interval", j.Timeout != 0, func() string { return span(j.Timeout) })
	add("backoff", "ARRAY(SELECT e::interval FROM json_array_elements_text($::text::json) e)", j.Backoff != nil, func() string {
		return list(j.Backoff, func(d time.Duration) string { return quote(span(d)) })
	})
	add("target", "$::text::json", j.Target != nil, func() string { return string(j.Target) })
	add("tags", "ARRAY(SELECT e FROM json_array_elements_text($::text::json) e)", j.Tags != nil, func() string { return list(j.Tags, quote) })
	add("traceparent", "$::text", j.Trace != "", func() string { return j.Trace })
	return strings.Join(parts, ", "), values
}

// span is a duration as an interval, truncated to what one can be.
func span(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) + " microseconds" }

func payload(text string) func(*core.NewJob) {
	return func(j *core.NewJob) { j.Payload = json.RawMessage(text) }
}
