package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/jsonfault"
)

// Tryout returns the built-in types for trying things out: echo, sleep and fail.
//
//	echo   returns its payload as the result
//	sleep  {"ms": N} waits N milliseconds
//	fail   {"permanent": bool, "panic": bool, "times": N} fails its first N attempts, or every one without times
func Tryout() core.Handlers {
	return core.Handlers{
		"echo":  core.HandlerFunc(echo),
		"sleep": core.HandlerFunc(sleep),
		"fail":  core.HandlerFunc(fail),
	}
}

// echo returns the payload, or its size if it is too large for a result.
func echo(_ context.Context, job *core.Job) (json.RawMessage, error) {
	if len(job.Payload) > core.MaxResultBytes {
		return json.RawMessage(fmt.Sprintf(`{"bytes":%d}`, len(job.Payload))), nil
	}
	return job.Payload, nil
}

func sleep(ctx context.Context, job *core.Job) (json.RawMessage, error) {
	var in struct {
		MS int64 `json:"ms"`
	}
	if err := read(job, &in); err != nil {
		return nil, err
	}
	if in.MS < 0 || in.MS > int64(24*time.Hour/time.Millisecond) {
		return nil, core.Permanent(fmt.Errorf("sleep: ms is %d, want 0 to 86400000", in.MS))
	}
	timer := time.NewTimer(time.Duration(in.MS) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func fail(_ context.Context, job *core.Job) (json.RawMessage, error) {
	var in struct {
		Permanent bool `json:"permanent"`
		Panic     bool `json:"panic"`
		Times     int  `json:"times"`
	}
	if err := read(job, &in); err != nil {
		return nil, err
	}
	if in.Times > 0 && job.Attempts > in.Times {
		return nil, nil
	}
	if in.Panic {
		panic("panicked as asked")
	}
	err := errors.New("failed as asked")
	if in.Permanent {
		err = core.Permanent(err)
	}
	return nil, err
}

// read decodes the payload. A payload that does not fit is a permanent error: a retry cannot fix it.
func read(job *core.Job, into any) error {
	d := json.NewDecoder(bytes.NewReader(job.Payload))
	if err := d.Decode(into); err != nil {
		return core.Permanent(fmt.Errorf("%s: payload: %s", job.Type, jsonfault.Text(err)))
	}
	return nil
}
