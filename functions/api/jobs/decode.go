package jobs

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// jobFields are the fields of a submitted job.
var jobFields = []string{
	"type", "payload", "run_at", "delay", "priority", "tenant", "dedupe_key", "max_attempts", "timeout", "expires_at", "backoff", "target", "tags",
}

// decodeJob reads one submitted job from raw, which parse or elements gave, and checks it. path stands before each field's
// name in what is wrong with it, a *problem.Problem; any other error is not about the job. The payload becomes a part of
// raw: byte for byte what was sent.
func (a *Calls) decodeJob(ctx context.Context, path string, raw []byte, trace string) (core.CheckedJob, error) {
	if raw[0] != '{' {
		field := "body"
		if path != "" {
			field = path[:len(path)-1]
		}
		return core.CheckedJob{}, problem.Field(http.StatusUnprocessableEntity, field, "must be an object, not "+decode.Kind(raw))
	}
	now := a.Now()
	d := decode.Decoder{Path: path}
	j := core.NewJob{Trace: trace}
	d.Object(raw, jobFields, func(name string, value []byte) { a.jobField(&d, &j, now, name, value) })
	if !d.Has("type") {
		d.Fault("type", "is required")
	}
	if d.Has("run_at") && d.Has("delay") {
		d.Fault("delay", "set run_at or delay, not both")
		j.Delay = 0
	}
	stranger := access.CallerOf(ctx).Adopt(path, &j)
	checked, err := a.Submitter.Check(ctx, j, now)
	d.AddFaults(err)
	a.BoundTimeout(&d, core.TruncateLength(j.Timeout), j.Target, j.Type)
	switch p := d.Problem(); {
	case p != nil:
		return core.CheckedJob{}, p
	case stranger != nil:
		return core.CheckedJob{}, stranger
	}
	return checked, err
}

// jobField reads one field. What must not be zero where it stands is held against its rule here: core takes
// zero for absent.
func (a *Calls) jobField(d *decode.Decoder, j *core.NewJob, now time.Time, name string, value []byte) {
	switch name {
	case "type":
		j.Type, _ = d.Text(name, value)
	case "payload":
		j.Payload = json.RawMessage(value)
		d.Large = d.Large || len(value) > core.MaxPayloadBytes
	case "run_at":
		j.RunAt = d.Instant(name, value, now)
	case "expires_at":
		j.ExpiresAt = d.Instant(name, value, now)
	case "delay":
		j.Delay, _ = d.Duration(name, value)
	case "timeout":
		var ok bool
		if j.Timeout, ok = d.Duration(name, value); ok && j.Timeout == 0 {
			d.Fault(name, "must lie between 1s and 24h")
		}
	case "priority":
		j.Priority = call.Priority(d, name, value)
	case "tenant":
		j.Tenant = d.Some(name, value)
	case "dedupe_key":
		j.DedupeKey = d.Some(name, value)
	case "max_attempts":
		j.MaxAttempts = d.Whole(name, value, 1, core.MaxAttempts)
	case "backoff":
		j.Backoff = []time.Duration{}
		d.Array(name, value, core.MaxBackoff, func(field string, value []byte) {
			wait, _ := d.Duration(field, value)
			j.Backoff = append(j.Backoff, wait)
		})
	case "tags":
		d.Array(name, value, core.MaxTags, func(field string, value []byte) {
			tag, _ := d.Text(field, value)
			j.Tags = append(j.Tags, tag)
		})
	case "target":
		j.Target = a.Target(d, name, value)
	}
}
