package client_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

func TestTypes(t *testing.T) {
	c := newClient(t, nodetest.Start(t, "api"), nil)
	ctx := t.Context()
	name := "reports/daily"
	put := client.JobType{Type: name, Timeout: 90 * time.Second, MaxAttempts: 8, Backoff: []time.Duration{10 * time.Second, time.Minute}, ExpectWithin: 25 * time.Hour}
	for _, wantMade := range []bool{true, false} {
		kept, made, err := c.PutType(ctx, put)
		if err != nil || made != wantMade || kept.Type != name || kept.Timeout != put.Timeout || kept.MaxAttempts != 8 || kept.ExpectWithin != put.ExpectWithin || !reflect.DeepEqual(kept.Backoff, put.Backoff) || kept.UpdatedAt.IsZero() {
			t.Fatalf("%+v, made %t, %v", kept, made, err)
		}
	}
	job, err := c.Submit(ctx, client.NewJob{Type: name, Delay: time.Hour})
	if err != nil || job.Timeout != put.Timeout || job.MaxAttempts != 8 {
		t.Errorf("%+v, %v", job, err)
	}
	for _, other := range []string{"a", "z"} {
		if _, _, err := c.PutType(ctx, client.JobType{Type: other}); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for of, err := range c.ListTypes(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, of.Type)
	}
	if !reflect.DeepEqual(names, []string{"a", name, "z"}) {
		t.Errorf("listed %q", names)
	}
	if of, err := c.GetType(ctx, name); err != nil || of.Type != name {
		t.Errorf("%+v, %v", of, err)
	}
	if err := c.DeleteType(ctx, name); err != nil {
		t.Error(err)
	}
	for _, err := range []error{c.DeleteType(ctx, name), second(c.GetType(ctx, name))} {
		if !errors.Is(err, client.ErrNotFound) {
			t.Errorf("deleted: %v", err)
		}
	}
	for _, bad := range []string{"", ".", "..", "a/", "no good", "%2F", "🎉"} {
		if _, _, err := c.PutType(ctx, client.JobType{Type: bad}); !errors.Is(err, client.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	var fields client.FieldErrors
	if _, _, err := c.PutType(ctx, client.JobType{Type: "a", MaxAttempts: 1000, Timeout: time.Millisecond}); !errors.As(err, &fields) || len(fields) != 2 {
		t.Errorf("%v", err)
	}
}

func second[T any](_ T, err error) error { return err }
