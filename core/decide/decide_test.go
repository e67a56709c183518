package decide

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

type brokenError struct{}

func (*brokenError) Error() string { panic("nil map") }

func TestDecideEnd(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	boom := errors.New("boom")
	job := func(change func(*core.Job)) core.Job {
		j := core.Job{ID: 7, LeaseToken: 3, Attempts: 2, MaxAttempts: 5}
		if change != nil {
			change(&j)
		}
		return j
	}
	last := job(func(j *core.Job) { j.Attempts = 5 })
	snoozed := job(func(j *core.Job) { j.Snoozes = core.MaxSnoozes })
	for _, c := range []struct {
		name    string
		job     core.Job
		ran     Ran
		outcome core.Outcome
		wait    time.Duration
		kind    string // of the last error; "" means none was added
		text    string
	}{
		{"done", job(nil), Ran{}, core.EndDone, 0, "", ""},
		{"done after its timeout", job(nil), Ran{Cause: core.ErrTimeout}, core.EndDone, 0, "", ""},
		{"done while stopping", job(nil), Ran{Cause: core.ErrStopping}, core.EndDone, 0, "", ""},
		{"error", job(nil), Ran{Err: boom}, core.EndRetry, 2 * time.Minute, core.KindError, "boom"},
		{"error, attempts used up", last, Ran{Err: boom}, core.EndFail, 0, core.KindError, "boom"},
		{"permanent", job(nil), Ran{Err: fmt.Errorf("x: %w", core.Permanent(boom))}, core.EndFail, 0, core.KindPermanent, "x: boom"},
		{"own back-off", job(func(j *core.Job) { j.Backoff = []time.Duration{time.Second} }), Ran{Err: boom}, core.EndRetry, time.Second, core.KindError, "boom"},
		{"retry after", job(nil), Ran{Err: core.RetryAfter(boom, 90*time.Second)}, core.EndRetry, 90 * time.Second, core.KindError, "boom"},
		{"retry after, attempts used up", last, Ran{Err: core.RetryAfter(boom, 90*time.Second)}, core.EndFail, 0, core.KindError, "boom"},
		{"retry after, negative", job(nil), Ran{Err: core.RetryAfter(boom, -time.Hour)}, core.EndRetry, 0, core.KindError, "boom"},
		{"retry after, absurd", job(nil), Ran{Err: core.RetryAfter(boom, 1<<62)}, core.EndRetry, MaxWait, core.KindError, "boom"},
		{"permanent retry after", job(nil), Ran{Err: core.Permanent(core.RetryAfter(boom, time.Hour))}, core.EndFail, 0, core.KindPermanent, "boom"},
		{"snooze", job(nil), Ran{Err: core.Snooze(time.Hour)}, core.EndSnooze, time.Hour, "", ""},
		{"snooze on the last attempt", last, Ran{Err: core.Snooze(time.Hour)}, core.EndSnooze, time.Hour, "", ""},
		{"snooze, absurd", job(nil), Ran{Err: core.Snooze(-1)}, core.EndSnooze, 0, "", ""},
		{"one snooze too many", snoozed, Ran{Err: core.Snooze(time.Hour)}, core.EndRetry, 2 * time.Minute, core.KindSnooze, "snoozed more than 1000 times"},
		{"accepted", job(nil), Ran{Err: core.ErrAccepted}, core.EndAccepted, 0, "", ""},
		{"accepted, with a timeout of its own", job(func(j *core.Job) { j.Timeout = time.Hour }), Ran{Err: fmt.Errorf("202: %w", core.ErrAccepted)}, core.EndAccepted, time.Hour, "", ""},
		{"accepted on the last attempt while stopping", last, Ran{Err: core.ErrAccepted, Cause: core.ErrStopping}, core.EndAccepted, 0, "", ""},
		{"accepted, its lease lost", job(nil), Ran{Err: core.ErrAccepted, Cause: core.ErrLeaseLost}, core.EndAccepted, 0, "", ""},
		{"accepted, and a panic", job(nil), Ran{Err: core.ErrAccepted, Panic: true}, core.EndRetry, 2 * time.Minute, core.KindPanic, "accepted"},
		{"done, its result lost", last, Ran{Err: fmt.Errorf("x: %w", core.ResultLost(boom))}, core.EndDone, 0, core.KindResult, "x: boom"},
		{"done, its result lost, while stopping", job(nil), Ran{Err: core.ResultLost(boom), Cause: core.ErrStopping}, core.EndDone, 0, core.KindResult, "boom"},
		{"a lost result, and a panic", job(nil), Ran{Err: core.ResultLost(boom), Panic: true}, core.EndRetry, 2 * time.Minute, core.KindPanic, "boom"},
		{"panic", job(nil), Ran{Err: boom, Panic: true}, core.EndRetry, 2 * time.Minute, core.KindPanic, "boom"},
		{"timeout", job(nil), Ran{Err: context.DeadlineExceeded, Cause: core.ErrTimeout}, core.EndRetry, 2 * time.Minute, core.KindTimeout, "deadline"},
		{"timeout, attempts used up", last, Ran{Err: core.ErrTimeout, Cause: core.ErrTimeout}, core.EndFail, 0, core.KindTimeout, "timeout"},
		{"cancel wanted", job(nil), Ran{Err: context.Canceled, Cause: core.ErrCancelWanted}, core.EndRetry, 2 * time.Minute, core.KindError, "canceled"},
		{"stopping", job(nil), Ran{Err: context.Canceled, Cause: core.ErrStopping}, core.EndHandBack, 0, "", ""},
		{"stopping, last attempt", last, Ran{Err: context.Canceled, Cause: core.ErrStopping}, core.EndHandBack, 0, "", ""},
		{"stopping, permanent", job(nil), Ran{Err: core.Permanent(boom), Cause: core.ErrStopping}, core.EndFail, 0, core.KindPermanent, "boom"},
		{"stopping, retry after", job(nil), Ran{Err: core.RetryAfter(boom, time.Hour), Cause: core.ErrStopping}, core.EndRetry, time.Hour, core.KindError, "boom"},
		{"stopping, panic", job(nil), Ran{Err: boom, Panic: true, Cause: core.ErrStopping}, core.EndRetry, 2 * time.Minute, core.KindPanic, "boom"},
		{"stopping, snooze", job(nil), Ran{Err: core.Snooze(time.Hour), Cause: core.ErrStopping}, core.EndSnooze, time.Hour, "", ""},
		{"lease lost", job(nil), Ran{Err: context.Canceled, Cause: core.ErrLeaseLost}, core.EndHandBack, 0, "", ""},
		{"result too long", job(nil), Ran{Result: json.RawMessage(`"` + strings.Repeat("x", core.MaxResultBytes) + `"`)}, core.EndFail, 0, core.KindPermanent, "result: "},
		{"result not JSON", job(nil), Ran{Result: json.RawMessage(`{"a":`)}, core.EndFail, 0, core.KindPermanent, "result: "},
		{"result not UTF-8", job(nil), Ran{Result: json.RawMessage("\"\xff\"")}, core.EndFail, 0, core.KindPermanent, "result: "},
		{"result with NUL", job(nil), Ran{Result: json.RawMessage(`"\u0000"`)}, core.EndFail, 0, core.KindPermanent, "result: "},
		{"result too deep", job(nil), Ran{Result: json.RawMessage(strings.Repeat("[", 101) + strings.Repeat("]", 101))}, core.EndFail, 0, core.KindPermanent, "result: "},
		{"result with brackets in a text", job(nil), Ran{Result: json.RawMessage(`"\"` + strings.Repeat("[", 500) + `"`)}, core.EndDone, 0, "", ""},
		{"an error whose text panics", job(nil), Ran{Err: &brokenError{}}, core.EndRetry, 2 * time.Minute, core.KindError, "its Error method panicked"},
		{"an unfit text", job(nil), Ran{Err: errors.New("bad\x00" + strings.Repeat("é", core.MaxErrorBytes))}, core.EndRetry, 2 * time.Minute, core.KindError, "… (truncated)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			end := End(&c.job, c.ran, at, 0.5)
			if end.Ref != (core.Ref{ID: 7, Token: 3}) || end.Lost {
				t.Errorf("names %+v, lost %v", end.Ref, end.Lost)
			}
			if end.Outcome != c.outcome || end.Wait != c.wait {
				t.Errorf("outcome %d after %s, want %d after %s", end.Outcome, end.Wait, c.outcome, c.wait)
			}
			if c.kind == "" {
				if len(end.Errors) != 0 {
					t.Errorf("errors %+v, want none", end.Errors)
				}
				return
			}
			if len(end.Errors) != 1 {
				t.Fatalf("%d errors, want 1", len(end.Errors))
			}
			e := end.Errors[0]
			if e.Kind != c.kind || e.Attempt != c.job.Attempts || !e.At.Equal(at) || !strings.Contains(e.Error, c.text) || len(e.Error) > core.MaxErrorBytes {
				t.Errorf("error %+v, want kind %q and %q", e, c.kind, c.text)
			}
		})
	}
}

func TestEndedErrorsKeepSnoozeHistory(t *testing.T) {
	history := []core.AttemptError{{Attempt: 1, Error: "once"}}
	end := End(&core.Job{Attempts: 2, MaxAttempts: 5, Errors: history}, Ran{Err: core.Snooze(time.Second)}, time.Unix(0, 0), 0)
	if len(end.Errors) != 1 || end.Errors[0].Error != "once" {
		t.Errorf("a snooze leaves %+v", end.Errors)
	}
}
