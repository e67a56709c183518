package api

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// jobFields are the fields of a submitted job.
var jobFields = []string{
	"type", "payload", "run_at", "delay", "priority", "tenant", "dedupe_key", "max_attempts", "timeout", "expires_at", "backoff", "target", "tags",
}

// decodeJob reads one submitted job from raw, which parse or elements gave. path stands before each field's
// name in what is wrong with it. The payload becomes a part of raw: byte for byte what was sent.
func (a *API) decodeJob(path string, raw []byte) (core.NewJob, *Problem) {
	if raw[0] != '{' {
		field := "body"
		if path != "" {
			field = path[:len(path)-1]
		}
		return core.NewJob{}, fieldProblem(http.StatusUnprocessableEntity, field, "must be an object, not "+kind(raw))
	}
	now := a.Now()
	d := decoder{path: path}
	var j core.NewJob
	d.object(raw, jobFields, func(name string, value []byte) { a.jobField(&d, &j, now, name, value) })
	if !d.has("type") {
		d.fault("type", "is required")
	}
	if d.has("run_at") && d.has("delay") {
		d.fault("delay", "set run_at or delay, not both")
		j.Delay = 0
	}
	d.addFaults(core.CheckNewJob(&j, now))
	a.boundTimeout(&d, j.Timeout, j.Target, j.Type)
	if !d.has("max_attempts") {
		j.MaxAttempts = 0 // its type may say; see ofType
	}
	return j, d.problem()
}

// jobField reads one field. What must not be zero where it stands is held against its rule here: core takes
// zero for absent.
func (a *API) jobField(d *decoder, j *core.NewJob, now time.Time, name string, value []byte) {
	switch name {
	case "type":
		j.Type, _ = d.text(name, value)
	case "payload":
		j.Payload = json.RawMessage(value)
		d.large = d.large || len(value) > core.MaxPayloadBytes
	case "run_at":
		j.RunAt = d.instant(name, value, now)
	case "expires_at":
		j.ExpiresAt = d.instant(name, value, now)
	case "delay":
		j.Delay, _ = d.duration(name, value)
	case "timeout":
		var ok bool
		if j.Timeout, ok = d.duration(name, value); ok && j.Timeout == 0 {
			d.fault(name, "must lie between 1s and 24h")
		}
	case "priority":
		j.Priority = d.priority(name, value)
	case "tenant":
		j.Tenant = d.some(name, value)
	case "dedupe_key":
		j.DedupeKey = d.some(name, value)
	case "max_attempts":
		j.MaxAttempts = d.whole(name, value, 1, core.MaxAttempts)
	case "backoff":
		j.Backoff = []time.Duration{}
		d.array(name, value, core.MaxBackoff, func(field string, value []byte) {
			wait, _ := d.duration(field, value)
			j.Backoff = append(j.Backoff, wait)
		})
	case "tags":
		d.array(name, value, core.MaxTags, func(field string, value []byte) {
			tag, _ := d.text(field, value)
			j.Tags = append(j.Tags, tag)
		})
	case "target":
		j.Target = a.target(d, name, value)
	}
}

func (d *decoder) priority(field string, raw []byte) core.Priority {
	word, ok := d.text(field, raw)
	p, err := core.ParsePriority(word)
	if ok && err != nil {
		d.fault(field, "must be critical, default or bulk")
	}
	return p
}
