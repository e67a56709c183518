package schedule

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// lengths returns all durations in a struct by the path of their field. Lists have one element.
func lengths(v reflect.Value, path string) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		isLength := func(t reflect.Type) bool {
			return t == reflect.TypeFor[time.Duration]() || t == reflect.TypeFor[core.ScheduleLength]()
		}
		switch {
		case isLength(f.Type()):
			all[path+name] = f
		case f.Kind() == reflect.Slice && isLength(f.Type().Elem()):
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
			all[path+name] = f.Index(0)
		}
	}
	return all
}

// TestDurationsAreKeptAsTheyAreAnswered: every duration that a caller submits, in any document, is truncated to the stored
// precision before it is returned. A duration that would be truncated to zero is refused.
func TestDurationsAreKeptAsTheyAreAnswered(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	ours := map[string]bool{"QueuedLease": true, "ExpiresAfter": true} // fields of a job that the submitter and its type set
	walked := 0
	for _, document := range []struct {
		of    func() any
		check func(any) error
	}{
		{func() any { return &core.NewJob{Type: "a", Payload: json.RawMessage(`1`)} }, func(v any) error {
			checked, err := core.CheckNewJob(*v.(*core.NewJob), core.JobType{}, now)
			if err == nil {
				*v.(*core.NewJob) = checked.NewJob()
			}
			return err
		}},
		{func() any { return &core.JobType{Name: "a"} }, func(v any) error { return core.CheckJobType(v.(*core.JobType)) }},
		{func() any { return &core.ScheduleRule{Cron: "0 0 * * *", Type: "a"} }, func(v any) error { return Check("", "s", v.(*core.ScheduleRule), now) }},
	} {
		name := reflect.TypeOf(document.of()).Elem().Name() + "."
		for path := range lengths(reflect.ValueOf(document.of()).Elem(), name) {
			if name == "NewJob." && ours[path[len(name):]] {
				continue
			}
			walked++
			for d, want := range map[time.Duration]time.Duration{
				time.Nanosecond: 0, 999 * time.Nanosecond: 0, 90*time.Second + 7*time.Microsecond + 1: 90*time.Second + 7*time.Microsecond,
			} {
				doc := document.of()
				field := lengths(reflect.ValueOf(doc).Elem(), name)[path]
				field.SetInt(int64(d))
				if path == name+"Every" {
					doc.(*core.ScheduleRule).Cron = ""
				}
				err := document.check(doc)
				kept := lengthAt(doc, path[len(name):])
				switch {
				case want == 0 && !errors.As(err, new(*core.FieldError)):
					t.Errorf("%s = %s is taken, and kept as %s", path, d, kept)
				case want != 0 && (err != nil || kept != want):
					t.Errorf("%s = %s is kept as %s, %v; want %s", path, d, kept, err, want)
				}
			}
		}
	}
	if walked < 12 {
		t.Errorf("%d durations were walked", walked)
	}
}

// lengthAt reads a field of a document, or the first element of a list field.
func lengthAt(doc any, name string) time.Duration {
	f := reflect.ValueOf(doc).Elem().FieldByName(name)
	if f.Kind() == reflect.Slice {
		f = f.Index(0)
	}
	return time.Duration(f.Int())
}

// TestCheckLeavesTheCallersBackoff: Check changes its own copy, not the caller's slice.
func TestCheckLeavesTheCallersBackoff(t *testing.T) {
	waits := []time.Duration{time.Second + 1}
	checked, err := core.CheckNewJob(core.NewJob{Type: "a", Backoff: waits}, core.JobType{}, time.Now())
	if kept := checked.NewJob().Backoff; err != nil || waits[0] != time.Second+1 || kept[0] != time.Second {
		t.Errorf("%v, the caller's %v, kept %v", err, waits, kept)
	}
}
