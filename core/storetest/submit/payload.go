package submit

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func payloadScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Submit/payloads come back byte for byte", Run: payloadBytes},
		{Name: "Submit/an absent payload is an empty object", Run: payloadAbsent},
		{Name: "Submit/a payload of the maximum size comes back", Run: payloadLarge},
		{Name: "Submit/odd names come back and select only their own", Run: oddNames},
		{Name: "Submit/times come back to the microsecond, cut once", Run: timesCut},
		{Name: "Submit/times of any zone and year within bounds come back", Run: timesRange},
		{Name: "Finish/results come back byte for byte", Run: resultBytes},
		{Name: "Finish/error texts with odd runes come back", Run: oddErrors},
	}
}

// oddPayloads are JSON texts that some store, driver or decoder changes.
var oddPayloads = []string{
	`null`, `true`, `false`, `0`, `-0`, `-0.0`, `0.1`, `1.0`, `1.00`, `1e5`, `1E+5`, `1e400`, `-1e-400`, `""`, `[]`, `{}`, ` {} `,
	`{"id":3889108265204450030}`, `1970670598291982290`, `9007199254740993`, `-9223372036854775808`, `18446744073709551616`, `12345678901234567890123`,
	`{"b":1,"a":{"d":2,"c":3}}`, `{"a":1,"a":2}`, `{"a":1,"A":2,"":3}`, "{ \"a\" :\t1 ,\r\n \"b\" : [ 1 , 2 ] }\n",
	`"<script>alert(1)</script>&amp;"`, `"\u003c\u003e\u0026"`, "\"\u2028\u2029\"", `"\u2028\u2029"`, `"\/"`, `"/"`, `"\u00e9é"`, `"é"`, `"e\u0301é"`,
	`"\ud83d\ude00😀"`, `"\b\f\n\r\t\"\\"`, `"队列 naïve"`, `"` + "\u0080\u009f\ufeff\ufffd\U0010ffff" + `"`, `"' or 1=1; --"`, `"$1 %s \\x00 ?"`, `[[[[[[[[[[1]]]]]]]]]]`,
}

func payloadBytes(s *storetest.Stage) {
	jobs := make([]core.NewJob, len(oddPayloads))
	for i, text := range oddPayloads {
		jobs[i] = core.NewJob{Type: "a", Payload: json.RawMessage(text)}
	}
	want := map[int64]string{}
	for i, one := range s.Submit(jobs...) {
		want[one.ID] = oddPayloads[i]
	}
	check := func(where string, jobs []core.Job) {
		for _, job := range jobs {
			if string(job.Payload) != want[job.ID] {
				s.Errorf("%s: got %q, want %q", where, job.Payload, want[job.ID])
			}
		}
		if len(jobs) != len(want) {
			s.Errorf("%s: %d of %d jobs", where, len(jobs), len(want))
		}
	}
	check("List", s.List(core.ListQuery{Limit: 1000}))
	claimed := s.Claim("a", 1000)
	check("ClaimDue", claimed)
	for i, job := range claimed {
		s.Finish(core.End{Ref: storetest.RefOf(job), Outcome: []core.Outcome{core.EndDone, core.EndFail}[i%2]})
	}
	ended := make([]core.Job, 0, len(claimed))
	for _, job := range claimed {
		ended = append(ended, s.Get(job.ID))
		if ended[len(ended)-1].Status == core.Failed {
			_, err := s.Store.Retry(s.Ctx, job.ID)
			s.Must(err)
		}
	}
	check("Get of an ended job", ended)
	for _, job := range s.Claim("a", 1000) {
		if string(job.Payload) != want[job.ID] {
			s.Errorf("after a retry: got %q, want %q", job.Payload, want[job.ID])
		}
	}
}

func payloadAbsent(s *storetest.Stage) {
	if got := s.Get(s.SubmitOne(core.NewJob{Type: "a"})).Payload; string(got) != "{}" {
		s.Errorf("an absent payload came back as %q", got)
	}
}

func payloadLarge(s *storetest.Stage) {
	text := `"` + strings.Repeat("é\u2028x", (core.MaxPayloadBytes-2)/6) + `"`
	id := s.SubmitOne(core.NewJob{Type: "a", Payload: json.RawMessage(text)})
	if got := s.Get(id).Payload; string(got) != text {
		s.Fatalf("%d bytes came back as %d", len(text), len(got))
	}
}

func oddNames(s *storetest.Stage) {
	for i, text := range storetest.OddText {
		id := s.SubmitOne(core.NewJob{Type: text, Tenant: text, DedupeKey: text, Tags: []string{"t", text}, Trace: text})
		got := s.Get(id)
		if got.Type != text || got.Tenant != text || got.DedupeKey != text || !slices.Equal(got.Tags, []string{"t", text}) || got.Trace != text {
			s.Errorf("%q came back as %q, %q, %q, %q, %q", text, got.Type, got.Tenant, got.DedupeKey, got.Tags, got.Trace)
		}
		if e := s.Existing(core.NewJob{Type: "other", Tenant: text, DedupeKey: text}); e.ID != id {
			s.Errorf("dedupe key %q: want job %d, got %d", text, id, e.ID)
		}
		for what, q := range map[string]core.ListQuery{"type": {Type: text}, "tenant": {Tenant: &text}, "tag": {Tag: text}} {
			q.Limit = 1000
			if found := s.List(q); len(found) != 1 || found[0].ID != id {
				s.Errorf("List by %s %q: want job %d alone, got %v", what, text, id, storetest.IdsOf(found))
			}
		}
		req := s.ClaimRequest(storetest.Quota(text, 10))
		req.WorkerID = text
		res, err := s.Store.ClaimDue(s.Ctx, req)
		s.Must(err)
		if len(res.Jobs) != 1 || res.Jobs[0].ID != id || s.Get(id).WorkerID != text {
			s.Errorf("ClaimDue of type %q by a worker of that name: got %v", text, storetest.IdsOf(res.Jobs))
		}
		if held := s.Tick(storetest.TickRequest(text)).Held; (i == 0) != (len(held) == core.Buckets) {
			s.Errorf("holder %q holds %d buckets", text, len(held))
		}
		s.Announce(text)
	}
}

func timesCut(s *storetest.Stage) {
	base := s.Now().Truncate(time.Second).Add(time.Hour)
	for _, nanos := range []int{0, 1, 499, 500, 999, 123_456_789, 123_456_500, 999_999_499, 999_999_500, 999_999_999} {
		at := base.Add(time.Duration(nanos))
		want := at.Truncate(time.Microsecond)
		got := s.Submit(core.NewJob{Type: "a", RunAt: at, ExpiresAt: at.Add(time.Hour)})[0]
		row := s.Get(got.ID)
		if !got.RunAt.Equal(want) || !row.RunAt.Equal(want) || !row.ExpiresAt.Equal(want.Add(time.Hour)) {
			s.Errorf("%d ns: answered %s, row %s, expires %s; want %s", nanos, got.RunAt, row.RunAt, row.ExpiresAt, want)
		}
		moved, err := s.Store.Reschedule(s.Ctx, got.ID, core.When{At: at.Add(time.Minute)})
		s.Must(err)
		if want = want.Add(time.Minute); !moved.RunAt.Equal(want) || !s.Get(got.ID).RunAt.Equal(want) {
			s.Errorf("%d ns: rescheduled to %s, want %s", nanos, moved.RunAt, want)
		}
	}
	for _, job := range s.List(core.ListQuery{Type: "a", RunAfter: base.Add(-time.Hour), Limit: 1000}) {
		if at := job.CreatedAt; at.Nanosecond()%1000 != 0 {
			s.Errorf("created_at %s is finer than a microsecond", at)
		}
	}
}

func timesRange(s *storetest.Stage) {
	east := time.FixedZone("", 14*3600)
	for _, at := range []time.Time{
		time.Date(1970, 1, 1, 0, 0, 0, 1000, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999_999_000, time.UTC), time.Date(1, 1, 2, 3, 4, 5, 6000, time.UTC),
		time.Date(2024, 2, 29, 23, 59, 59, 999_999_000, east), time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC), time.Date(1999, 12, 31, 12, 0, 0, 0, east),
	} {
		got := s.Submit(core.NewJob{Type: "a", RunAt: at})[0]
		if row := s.Get(got.ID); !got.RunAt.Equal(at) || !row.RunAt.Equal(at) {
			s.Errorf("run_at %s: answered %s, row %s", at, got.RunAt, row.RunAt)
		}
	}
}

func resultBytes(s *storetest.Stage) {
	for i, text := range append(slices.Clone(oddPayloads), `"`+strings.Repeat("x", core.MaxResultBytes-2)+`"`) {
		job := s.ClaimOne(core.NewJob{Type: "a"})
		s.FinishAs(core.Done, core.End{Ref: storetest.RefOf(job), Outcome: core.EndDone, Result: []byte(text)})
		if got := s.Get(job.ID).Result; string(got) != text {
			s.Errorf("result %d: got %.80q, want %.80q", i, got, text)
		}
	}
	job := s.ClaimOne(core.NewJob{Type: "a"})
	s.FinishAs(core.Done, core.End{Ref: storetest.RefOf(job), Outcome: core.EndDone})
	if got := s.Get(job.ID).Result; got != nil {
		s.Errorf("no result came back as %q", got)
	}
}

func oddErrors(s *storetest.Stage) {
	texts := append(slices.Clone(storetest.OddText), "bad\ufffdthing", `{"a":1}`, `"`, "\u007f\u0085", strings.Repeat("é", core.MaxErrorBytes/2))
	job := s.ClaimOne(core.NewJob{Type: "a", MaxAttempts: 2})
	var history []core.AttemptError
	for i, text := range texts[:core.MaxErrors] {
		history = append(history, core.AttemptError{Attempt: i, At: job.StartedAt.Add(time.Duration(i) * time.Microsecond).UTC(), Error: text, Kind: "error"})
	}
	s.FinishAs(core.Scheduled, core.End{Ref: storetest.RefOf(job), Outcome: core.EndRetry, Errors: history})
	storetest.SameErrors(s, "after a retry", s.Get(job.ID).Errors, history)
	again := s.Claim("a", 1)[0]
	storetest.SameErrors(s, "at the claim", again.Errors, history)
	for i, text := range texts[len(texts)-core.MaxErrors:] {
		history[i] = core.AttemptError{Attempt: i, At: history[i].At, Error: text, Kind: "panic"}
	}
	s.FinishAs(core.Failed, core.End{Ref: storetest.RefOf(again), Outcome: core.EndFail, Errors: history})
	storetest.SameErrors(s, "of a dead letter", s.Get(job.ID).Errors, history)
}
