// Package jsonfault says in the words of JSON what is wrong with a document that does not decode: the field and the rule. It names
// no values, so that its texts may be logged and are the same for the same fault, and nothing of Go.
package jsonfault

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"time"
)

// Text says what an error of encoding/json means.
func Text(err error) string {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var instant *time.ParseError
	switch {
	case errors.As(err, &wrong):
		return mismatch(wrong)
	case errors.Is(err, io.EOF):
		return "must be a JSON value, and is empty"
	case errors.As(err, &syntax):
		return fmt.Sprintf("is not JSON, at byte %d", syntax.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "is not one whole JSON value"
	case errors.As(err, &instant), strings.HasPrefix(err.Error(), "Time.UnmarshalJSON:"):
		return `a time in it must be RFC 3339, such as "2026-03-01T09:00:00Z"`
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return "the field " + field + " is unknown"
	}
	return "a value in it is not one that its field takes"
}

func mismatch(wrong *json.UnmarshalTypeError) string {
	given, _, _ := strings.Cut(wrong.Value, " ") // "number 1e400" holds the value
	place := ""
	if field := strings.Trim(wrong.Field, "."); field != "" {
		place = field + ": "
	}
	if given == "bool" {
		given = "boolean"
	}
	text := place + "must be " + Wanted(wrong.Type)
	if given != "number" || !isNumber(wrong.Type) {
		text += ", not " + article(given)
	}
	return text
}

func article(kind string) string {
	if strings.ContainsAny(kind[:1], "aeiou") {
		return "an " + kind
	}
	return "a " + kind
}

func isNumber(t reflect.Type) bool {
	return t != nil && t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64
}

var (
	asJSON = reflect.TypeFor[json.Unmarshaler]()
	asText = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// Wanted says in the words of JSON what decodes into a type: "a string", "a whole number from 0 to 255".
func Wanted(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
		return "another value"
	case t == reflect.TypeFor[time.Time]():
		return "a time, as a string"
	case reflect.PointerTo(t).Implements(asJSON):
		return "another value"
	case reflect.PointerTo(t).Implements(asText), t == reflect.TypeFor[json.Number]():
		return map[bool]string{true: "a number", false: "a string"}[t == reflect.TypeFor[json.Number]()]
	}
	switch kind := t.Kind(); kind {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if t.Bits() == 64 {
			return "a whole number that 64 bits can hold"
		}
		limit := uint64(math.MaxInt64) >> (64 - t.Bits())
		return fmt.Sprintf("a whole number from -%d to %d", limit+1, limit)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-t.Bits()))
	case reflect.Float32, reflect.Float64:
		return fmt.Sprintf("a number that %d bits can hold", t.Bits())
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 && kind == reflect.Slice {
			return "a string in base64"
		}
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "another value"
}
