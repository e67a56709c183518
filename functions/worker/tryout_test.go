package worker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func run(ctx context.Context, name, payload string, attempt int) (string, error) {
	out, err := Tryout()[name].Work(ctx, &core.Job{Type: name, Payload: []byte(payload), Attempts: attempt})
	return string(out), err
}

func TestEchoReturnsThePayloadByteForByte(t *testing.T) {
	in := `{"a": 1e5, "b":-0}`
	if out, err := run(t.Context(), "echo", in, 1); err != nil || out != in {
		t.Fatalf("got %s, %v", out, err)
	}
	big := `"` + strings.Repeat("x", core.MaxResultBytes) + `"`
	if out, err := run(t.Context(), "echo", big, 1); err != nil || out != `{"bytes":65538}` {
		t.Fatalf("got %.40s, %v", out, err)
	}
}

func TestFailFailsAsManyTimesAsAsked(t *testing.T) {
	for attempt, want := range map[int]bool{1: true, 2: true, 3: false} {
		if _, err := run(t.Context(), "fail", `{"times":2}`, attempt); (err != nil) != want {
			t.Errorf("attempt %d: got %v, want an error: %v", attempt, err, want)
		}
	}
	if _, err := run(t.Context(), "fail", `{"permanent":true}`, 1); !core.IsPermanent(err) {
		t.Errorf("permanent: got %v", err)
	}
	if _, err := run(t.Context(), "fail", `[1]`, 1); !core.IsPermanent(err) {
		t.Errorf("a payload that does not fit: got %v", err)
	}
}

func TestSleepWaitsAndEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if _, err := run(t.Context(), "sleep", `{"ms":1500}`, 1); err != nil || time.Since(start) != 1500*time.Millisecond {
			t.Fatalf("slept %s, %v", time.Since(start), err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(core.ErrCancelWanted)
		if _, err := run(ctx, "sleep", `{"ms":60000}`, 1); !errors.Is(err, core.ErrCancelWanted) {
			t.Fatalf("cancelled: got %v", err)
		}
	})
	if _, err := run(t.Context(), "sleep", `{"ms":-1}`, 1); !core.IsPermanent(err) {
		t.Fatalf("negative: got %v", err)
	}
}

// A payload that does not fit says the field and the rule, in words of JSON.
func TestPayloadThatDoesNotFitSaysWhy(t *testing.T) {
	for _, c := range []struct{ name, payload, want string }{
		{"fail", `"abc"`, "fail: payload: must be an object, not a string"},
		{"fail", `{"times":"2"}`, "fail: payload: times: must be a whole number that 64 bits can hold, not a string"},
		{"fail", `{"permanent":1}`, "fail: payload: permanent: must be true or false, not a number"},
		{"fail", ``, "fail: payload: must be a JSON value, and is empty"},
		{"sleep", `{"ms":"x"}`, "sleep: payload: ms: must be a whole number that 64 bits can hold, not a string"},
		{"sleep", `{"ms":1.5}`, "sleep: payload: ms: must be a whole number that 64 bits can hold"},
		{"sleep", `{`, "sleep: payload: is not one whole JSON value"},
		{"sleep", `nope`, "sleep: payload: is not JSON, at byte 2"},
	} {
		if _, err := run(t.Context(), c.name, c.payload, 1); err == nil || err.Error() != c.want || !core.IsPermanent(err) {
			t.Errorf("%s of %s: %v, want %s", c.name, c.payload, err, c.want)
		}
	}
}
