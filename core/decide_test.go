package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

type brokenError struct{}

func (*brokenError) Error() string { panic("nil map") }

func TestDecideEnd(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	boom := errors.New("boom")
	job := func(change func(*Job)) Job {
		j := Job{ID: 7, LeaseToken: 3, Attempts: 2, MaxAttempts: 5}
		if change != nil {
			change(&j)
		}
		return j
	}
	last := job(func(j *Job) { j.Attempts = 5 })
	snoozed := job(func(j *Job) { j.Snoozes = MaxSnoozes })
	for _, c := range []struct {
		name    string
		job     Job
		ran     Ran
		outcome Outcome
		wait    time.Duration
		kind    string // of the last error; "" means none was added
		text    string
	}{
		{"done", job(nil), Ran{}, EndDone, 0, "", ""},
		{"done after its timeout", job(nil), Ran{Cause: ErrTimeout}, EndDone, 0, "", ""},
		{"done while stopping", job(nil), Ran{Cause: ErrStopping}, EndDone, 0, "", ""},
		{"error", job(nil), Ran{Err: boom}, EndRetry, 2 * time.Minute, KindError, "boom"},
		{"error, attempts used up", last, Ran{Err: boom}, EndFail, 0, KindError, "boom"},
		{"permanent", job(nil), Ran{Err: fmt.Errorf("x: %w", Permanent(boom))}, EndFail, 0, KindPermanent, "x: boom"},
		{"own back-off", job(func(j *Job) { j.Backoff = []time.Duration{time.Second} }), Ran{Err: boom}, EndRetry, time.Second, KindError, "boom"},
		{"retry after", job(nil), Ran{Err: RetryAfter(boom, 90*time.Second)}, EndRetry, 90 * time.Second, KindError, "boom"},
		{"retry after, attempts used up", last, Ran{Err: RetryAfter(boom, 90*time.Second)}, EndFail, 0, KindError, "boom"},
		{"retry after, negative", job(nil), Ran{Err: RetryAfter(boom, -time.Hour)}, EndRetry, 0, KindError, "boom"},
		{"retry after, absurd", job(nil), Ran{Err: RetryAfter(boom, 1<<62)}, EndRetry, MaxWait, KindError, "boom"},
		{"permanent retry after", job(nil), Ran{Err: Permanent(RetryAfter(boom, time.Hour))}, EndFail, 0, KindPermanent, "boom"},
		{"snooze", job(nil), Ran{Err: Snooze(time.Hour)}, EndSnooze, time.Hour, "", ""},
		{"snooze on the last attempt", last, Ran{Err: Snooze(time.Hour)}, EndSnooze, time.Hour, "", ""},
		{"snooze, absurd", job(nil), Ran{Err: Snooze(-1)}, EndSnooze, 0, "", ""},
		{"one snooze too many", snoozed, Ran{Err: Snooze(time.Hour)}, EndRetry, 2 * time.Minute, KindSnooze, "snoozed more than 1000 times"},
		{"accepted", job(nil), Ran{Err: ErrAccepted}, EndAccepted, 0, "", ""},
		{"accepted, with a timeout of its own", job(func(j *Job) { j.Timeout = time.Hour }), Ran{Err: fmt.Errorf("202: %w", ErrAccepted)}, EndAccepted, time.Hour, "", ""},
		{"accepted on the last attempt while stopping", last, Ran{Err: ErrAccepted, Cause: ErrStopping}, EndAccepted, 0, "", ""},
		{"accepted, its lease lost", job(nil), Ran{Err: ErrAccepted, Cause: ErrLeaseLost}, EndAccepted, 0, "", ""},
		{"accepted, and a panic", job(nil), Ran{Err: ErrAccepted, Panic: true}, EndRetry, 2 * time.Minute, KindPanic, "accepted"},
		{"done, its result lost", last, Ran{Err: fmt.Errorf("x: %w", ResultLost(boom))}, EndDone, 0, KindResult, "x: boom"},
		{"done, its result lost, while stopping", job(nil), Ran{Err: ResultLost(boom), Cause: ErrStopping}, EndDone, 0, KindResult, "boom"},
		{"a lost result, and a panic", job(nil), Ran{Err: ResultLost(boom), Panic: true}, EndRetry, 2 * time.Minute, KindPanic, "boom"},
		{"panic", job(nil), Ran{Err: boom, Panic: true}, EndRetry, 2 * time.Minute, KindPanic, "boom"},
		{"timeout", job(nil), Ran{Err: context.DeadlineExceeded, Cause: ErrTimeout}, EndRetry, 2 * time.Minute, KindTimeout, "deadline"},
		{"timeout, attempts used up", last, Ran{Err: ErrTimeout, Cause: ErrTimeout}, EndFail, 0, KindTimeout, "timeout"},
		{"cancel wanted", job(nil), Ran{Err: context.Canceled, Cause: ErrCancelWanted}, EndRetry, 2 * time.Minute, KindError, "canceled"},
		{"stopping", job(nil), Ran{Err: context.Canceled, Cause: ErrStopping}, EndHandBack, 0, "", ""},
		{"stopping, last attempt", last, Ran{Err: context.Canceled, Cause: ErrStopping}, EndHandBack, 0, "", ""},
		{"stopping, permanent", job(nil), Ran{Err: Permanent(boom), Cause: ErrStopping}, EndFail, 0, KindPermanent, "boom"},
		{"stopping, retry after", job(nil), Ran{Err: RetryAfter(boom, time.Hour), Cause: ErrStopping}, EndRetry, time.Hour, KindError, "boom"},
		{"stopping, panic", job(nil), Ran{Err: boom, Panic: true, Cause: ErrStopping}, EndRetry, 2 * time.Minute, KindPanic, "boom"},
		{"stopping, snooze", job(nil), Ran{Err: Snooze(time.Hour), Cause: ErrStopping}, EndSnooze, time.Hour, "", ""},
		{"lease lost", job(nil), Ran{Err: context.Canceled, Cause: ErrLeaseLost}, EndHandBack, 0, "", ""},
		{"result too long", job(nil), Ran{Result: json.RawMessage(`"` + strings.Repeat("x", MaxResultBytes) + `"`)}, EndFail, 0, KindPermanent, "result: "},
		{"result not JSON", job(nil), Ran{Result: json.RawMessage(`{"a":`)}, EndFail, 0, KindPermanent, "result: "},
		{"result not UTF-8", job(nil), Ran{Result: json.RawMessage("\"\xff\"")}, EndFail, 0, KindPermanent, "result: "},
		{"result with NUL", job(nil), Ran{Result: json.RawMessage(`"\u0000"`)}, EndFail, 0, KindPermanent, "result: "},
		{"result too deep", job(nil), Ran{Result: json.RawMessage(strings.Repeat("[", 101) + strings.Repeat("]", 101))}, EndFail, 0, KindPermanent, "result: "},
		{"result with brackets in a text", job(nil), Ran{Result: json.RawMessage(`"\"` + strings.Repeat("[", 500) + `"`)}, EndDone, 0, "", ""},
		{"an error whose text panics", job(nil), Ran{Err: &brokenError{}}, EndRetry, 2 * time.Minute, KindError, "its Error method panicked"},
		{"an unfit text", job(nil), Ran{Err: errors.New("bad\x00" + strings.Repeat("é", MaxErrorBytes))}, EndRetry, 2 * time.Minute, KindError, "… (truncated)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			end := DecideEnd(&c.job, c.ran, at, 0.5)
			if end.Ref != (Ref{7, 3}) || end.Lost {
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
			if e.Kind != c.kind || e.Attempt != c.job.Attempts || !e.At.Equal(at) || !strings.Contains(e.Error, c.text) || len(e.Error) > MaxErrorBytes {
				t.Errorf("error %+v, want kind %q and %q", e, c.kind, c.text)
			}
		})
	}
}

func TestEndedErrorsKeepSnoozeHistory(t *testing.T) {
	history := []AttemptError{{Attempt: 1, Error: "once"}}
	end := DecideEnd(&Job{Attempts: 2, MaxAttempts: 5, Errors: history}, Ran{Err: Snooze(time.Second)}, time.Unix(0, 0), 0)
	if len(end.Errors) != 1 || end.Errors[0].Error != "once" {
		t.Errorf("a snooze leaves %+v", end.Errors)
	}
}
