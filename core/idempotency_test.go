package core

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"
)

// Every field of a job comes back as it was accepted, but for those that say when and how it is written.
func TestKeptJobHasEveryField(t *testing.T) {
	left := []string{"RunAt", "Delay", "DedupeKey", "Run", "Queued", "QueuedLease", "Fence"}
	var job NewJob
	fields := reflect.ValueOf(&job).Elem()
	for i := range fields.NumField() {
		name, f := fields.Type().Field(i).Name, fields.Field(i)
		if slices.Contains(left, name) {
			continue
		}
		switch v := f.Addr().Interface().(type) {
		case *time.Time:
			*v = time.Date(2031, 2, 3, 4, 5, 6, 789_012_000, time.UTC)
		case *[]time.Duration:
			*v = []time.Duration{time.Second, time.Microsecond}
		case *[]string:
			*v = []string{"x", `"ü\`}
		case *string:
			*v = name + ` "ü" <&>`
		default:
			switch f.Kind() {
			case reflect.Int, reflect.Int16, reflect.Int64:
				f.SetInt(3)
			case reflect.Slice: // raw JSON
				f.SetBytes([]byte("{ \"a\" :1e5, \"<\": \"\\u00e9\" }\n"))
			default:
				t.Fatalf("%s: a field of a kind that this test does not know", name)
			}
		}
	}
	made := Submitted{ID: 1 << 40, RunAt: time.Date(1999, 12, 31, 23, 59, 59, 1000, time.UTC), CreatedAt: time.Date(9999, 1, 2, 3, 4, 5, 6000, time.UTC), Status: Queued}
	packed, err := PackJob(&job)
	if err != nil {
		t.Fatal(err)
	}
	kept := append(KeptHead(made), packed...)
	once, err := ReadKept(0, kept)
	if err != nil || len(once.Kept.Job.Payload) > 0 {
		t.Fatalf("%+v, %v", once.Kept, err)
	}
	once.Kept.Repeat(job.Payload)
	if want := (KeptJob{Job: job, Submitted: made}); !once.Replayed || !reflect.DeepEqual(*once.Kept, want) {
		t.Errorf("got  %+v\nwant %+v", once.Kept, want)
	}
	for _, damaged := range [][]byte{nil, kept[:1], kept[:20], kept[:len(kept)-1], append([]byte{3}, kept...)} {
		if _, err := ReadKept(0, damaged); err == nil {
			t.Errorf("what is damaged is read: %q", damaged)
		}
	}
}

// What is kept of a job is the JSON of packedJob, with any of its fields.
func TestPackJobIsJSON(t *testing.T) {
	full := NewJob{
		Type: "email.send", Priority: Bulk, Tenant: "acme", MaxAttempts: 3, Timeout: time.Minute, ExpiresAt: time.Date(2031, 2, 3, 4, 5, 6, 789_012_000, time.UTC),
		ExpiresAfter: time.Hour, Backoff: []time.Duration{time.Second, time.Microsecond}, Target: []byte(`{"url": "https://example.com/?a&b"}`),
		Tags: []string{"x", "ü", `a"b\c`}, Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
	jobs := []NewJob{{}, full, {Backoff: []time.Duration{}, Tags: []string{}, Target: []byte{}}, {Type: "a<b>&c\u2028\x00\x7f\xff", Tenant: `\"`, Tags: []string{"", "<"}}}
	for i := range reflect.TypeFor[NewJob]().NumField() { // each field alone
		var one NewJob
		reflect.ValueOf(&one).Elem().Field(i).Set(reflect.ValueOf(full).Field(i))
		jobs = append(jobs, one)
	}
	for _, j := range jobs {
		got, err := PackJob(&j)
		want, bad := json.Marshal(packedJob{
			Type: j.Type, Priority: j.Priority, Tenant: j.Tenant, MaxAttempts: j.MaxAttempts, Timeout: j.Timeout, ExpiresAt: j.ExpiresAt,
			ExpiresAfter: j.ExpiresAfter, Backoff: j.Backoff, Target: j.Target, Tags: j.Tags, Trace: j.Trace,
		})
		if err != nil || bad != nil || string(got) != string(want) {
			t.Errorf("got  %s %v\nwant %s %v", got, err, want, bad)
		}
	}
	if _, err := PackJob(&NewJob{ExpiresAt: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
		t.Error("a time that JSON has no form for is packed")
	}
}

// What was kept with its payload is given again as it was.
func TestKeptJobOfBeforeHasItsPayload(t *testing.T) {
	kept := KeptHead(Submitted{ID: 7, Status: Scheduled})
	kept[0] = keptWhole
	once, err := ReadKept(0, append(kept, `{"type":"echo","payload":"eyJhIjoxfQ==","max_attempts":5}`...))
	if err != nil {
		t.Fatal(err)
	}
	once.Kept.Repeat([]byte("1"))
	if k := once.Kept; string(k.Job.Payload) != `{"a":1}` || k.Job.Type != "echo" || k.Job.MaxAttempts != 5 || k.Submitted.ID != 7 {
		t.Errorf("%+v", k)
	}
}
