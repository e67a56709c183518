package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/client"
)

const notUTF8 = "k\xe9"

// Every text argument of every call is refused by its field if it is not UTF-8, before anything is sent. If it were sent, it
// would become another text, and two different texts could become equal.
func TestNoCallSendsTextThatIsNotUTF8(t *testing.T) {
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		sent.Add(1)
		http.Error(w, "{}", http.StatusTeapot)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, client.Options{Retry: client.Retry{Tries: 1}})
	if err != nil {
		t.Fatal(err)
	}
	calls, texts := 0, 0
	methods := reflect.TypeOf(c)
	for i := range methods.NumMethod() {
		method := methods.Method(i)
		count := len(leavesOf(arguments(t.Context(), method)))
		if count > 0 {
			calls++
		}
		for leaf := range count {
			if method.Name == "SubmitBatch" && leaf == count-1 {
				continue // a batch does not read the IdempotencyKey of its jobs
			}
			texts++
			args := arguments(t.Context(), method)
			leavesOf(args)[leaf](notUTF8)
			err := outcome(reflect.ValueOf(c).Method(i), args)
			var faults client.FieldErrors
			if !errors.As(err, &faults) || !strings.Contains(faults.Error(), "UTF-8") && !strings.Contains(faults.Error(), "ASCII") || strings.HasPrefix(faults[0].Field, "body") || sent.Load() > 0 {
				t.Errorf("%s, text %d of %d, sent %d: %v", method.Name, leaf+1, count, sent.Swap(0), err)
			}
		}
	}
	if calls < 25 || texts < 60 {
		t.Errorf("only %d calls with %d texts", calls, texts)
	}
	t.Logf("%d calls, %d texts", calls, texts)
}

// arguments returns the arguments of a method, with "a" for each text.
func arguments(ctx context.Context, method reflect.Method) []reflect.Value {
	var args []reflect.Value
	for i := 1; i < method.Type.NumIn(); i++ {
		of := method.Type.In(i)
		arg := reflect.New(of).Elem()
		if of == reflect.TypeFor[context.Context]() {
			arg.Set(reflect.ValueOf(ctx))
		} else {
			fill(arg)
		}
		args = append(args, arg)
	}
	return args
}

// fill sets every text to "a" and skips times.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("a")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(&struct {
				Text string            `json:"text"`
				Map  map[string]string `json:"map"`
			}{"a", map[string]string{"a": "a"}}))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && v.Type() != reflect.TypeFor[time.Time]() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"type":"a"}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("a"), reflect.ValueOf("a"))
	}
}

// leavesOf returns a setter for each text in the arguments, always in the same order.
func leavesOf(args []reflect.Value) (set []func(string)) {
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			if v.CanSet() {
				set = append(set, v.SetString)
			}
		case reflect.Pointer, reflect.Interface:
			if v.Type() != reflect.TypeFor[context.Context]() && !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Struct:
			if v.Type() == reflect.TypeFor[time.Time]() {
				return
			}
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					walk(v.Field(i))
				}
			}
		case reflect.Slice:
			if v.Type() == reflect.TypeFor[json.RawMessage]() {
				set = append(set, func(text string) { v.SetBytes(fmt.Appendf(nil, `{"type":"%s"}`, text)) })
				return
			}
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Map:
			set = append(set,
				func(text string) { v.SetMapIndex(reflect.ValueOf("a"), reflect.ValueOf(text)) },
				func(text string) { v.SetMapIndex(reflect.ValueOf(text), reflect.ValueOf("a")) })
		}
	}
	for _, arg := range args {
		walk(arg)
	}
	return set
}

// outcome calls a method and returns its error, or the error of the first item for a list.
func outcome(method reflect.Value, args []reflect.Value) (err error) {
	for _, result := range method.Call(args) {
		switch {
		case result.Type() == reflect.TypeFor[error]() && !result.IsNil():
			return result.Interface().(error)
		case result.Kind() == reflect.Func:
			for _, e := range result.Seq2() {
				if !e.IsNil() {
					err = e.Interface().(error)
				}
				break
			}
		}
	}
	return err
}

// A U+FFFD that the caller wrote is accepted, also in a value that marshals itself.
func TestReplacementCharactersAreText(t *testing.T) {
	for _, payload := range []any{"\ufffd", `\ufffd`, json.RawMessage(`"\ufffd"`), map[string]any{"a": json.RawMessage(`"\ufffd"`)}, map[string]string{`\ufffd`: `\\ufffd`}} {
		job := client.NewJob{Type: "a", Payload: payload, DedupeKey: "\ufffd", Tags: []string{`\ufffd`}}
		if document, err := job.Document(); err != nil || !json.Valid(document) {
			t.Errorf("%#v: %v", payload, err)
		}
	}
	for _, payload := range []json.RawMessage{[]byte("\ufeff{}"), []byte("{\x00}\x00"), []byte("\xff\xfe{\x00}\x00"), []byte(`{"a":"` + notUTF8 + `"}`)} {
		if _, err := (&client.NewJob{Type: "a", Payload: payload}).Document(); err == nil || !strings.Contains(err.Error(), "UTF-") {
			t.Errorf("%q: %v", payload, err)
		}
	}
}
