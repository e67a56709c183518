package belfrytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Match is a condition on a job. Its text completes "a job with …".
type Match struct {
	text  string
	holds func(core.Job) bool
}

// Where is a custom Match; text names it in failures.
func Where(text string, holds func(core.Job) bool) Match { return Match{text, holds} }

// Payload matches jobs whose payload equals the JSON of v, in any order of keys and with any white space. Numbers are
// compared as written.
func Payload(v any) Match {
	want, err := json.Marshal(v)
	if err != nil {
		return Where(fmt.Sprintf("a payload that cannot be made JSON (%v)", err), func(core.Job) bool { return false })
	}
	return Where("payload "+string(want), func(job core.Job) bool { return sameJSON(job.Payload, want) })
}

// PayloadWhere matches jobs whose payload decodes into a T for which holds returns true.
func PayloadWhere[T any](text string, holds func(T) bool) Match {
	return Where("a payload "+text, func(job core.Job) bool {
		var v T
		return json.Unmarshal(job.Payload, &v) == nil && holds(v)
	})
}

// Tenant matches jobs of a tenant; "" means no tenant.
func Tenant(tenant string) Match {
	return Where(fmt.Sprintf("tenant %q", tenant), func(job core.Job) bool { return job.Tenant == tenant })
}

// Priority matches jobs of a priority.
func Priority(p core.Priority) Match {
	return Where("priority "+p.String(), func(job core.Job) bool { return job.Priority == p })
}

// Tag matches jobs with a tag.
func Tag(tag string) Match {
	return Where(fmt.Sprintf("tag %q", tag), func(job core.Job) bool { return slices.Contains(job.Tags, tag) })
}

// DedupeKey matches jobs with a dedupe key.
func DedupeKey(key string) Match {
	return Where(fmt.Sprintf("dedupe key %q", key), func(job core.Job) bool { return job.DedupeKey == key })
}

// DueAt matches jobs whose current due time is at. A retry changes it.
func DueAt(at time.Time) Match {
	at = at.UTC().Truncate(core.Precision)
	return Where("run_at "+at.Format(time.RFC3339Nano), func(job core.Job) bool { return job.RunAt.Equal(at) })
}

// DueIn matches jobs that are due d after they were submitted.
func DueIn(d time.Duration) Match {
	return Where("a delay of "+d.String(), func(job core.Job) bool { return job.RunAt.Sub(job.CreatedAt) == d })
}

// Status matches jobs with a status.
func Status(s core.Status) Match {
	return Where("status "+s.String(), func(job core.Job) bool { return job.Status == s })
}

func sameJSON(a, b []byte) bool {
	x, okX := tree(a)
	y, okY := tree(b)
	return okX && okY && reflect.DeepEqual(x, y)
}

// tree decodes JSON and keeps numbers as written.
func tree(text []byte) (v any, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return v, decoder.Decode(&v) == nil
}
