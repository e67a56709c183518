package core

import (
	"bytes"
	"encoding/json"
	"reflect"
	"unicode/utf8"

	"github.com/belfry-dev/belfry/core/jsonscan"
)

// MarshalValue writes a value as JSON: a json.RawMessage unchanged, everything else as encoding/json does. The error is
// FieldErrors about field if the value is not JSON, cannot be written as JSON, or contains text that is not UTF-8, which
// encoding/json would silently replace by U+FFFD.
func MarshalValue(field string, v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok {
		if fault := jsonscan.EncodingFault(raw); fault != "" {
			return nil, FieldErrors{{Field: field, Rule: fault}}
		}
		if _, err := jsonscan.Scan(raw); err != nil { // in the middle of a document it could say anything
			return nil, FieldErrors{{Field: field, Rule: "must be JSON: " + err.Error()}}
		}
		return raw, nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, FieldErrors{{Field: field, Rule: "must be what encoding/json can write: " + err.Error()}}
	}
	if !utf8.Valid(b) || ReplacesText(b) && textIsReplaced(reflect.ValueOf(v)) {
		return nil, FieldErrors{{Field: field, Rule: "must be valid UTF-8"}}
	}
	return b, nil
}

// ReplacesText reports whether a document that encoding/json wrote has an escaped U+FFFD: that is what it writes for bytes that
// are not UTF-8. A U+FFFD that was there before it writes as it is.
func ReplacesText(document []byte) bool {
	for {
		at := bytes.IndexByte(document, '\\')
		if at < 0 || at+1 == len(document) {
			return false
		}
		if bytes.HasPrefix(document[at:], []byte(`\ufffd`)) {
			return true
		}
		document = document[at+2:]
	}
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// textIsReplaced reports whether a string in v, which encoding/json has written, is not UTF-8. What writes itself may have
// written an escaped U+FFFD of its own.
func textIsReplaced(v reflect.Value) bool {
	if !v.IsValid() || v.Type().Implements(marshaler) {
		return false
	}
	switch v.Kind() {
	case reflect.String:
		return !utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return textIsReplaced(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if textIsReplaced(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if textIsReplaced(v.Index(i)) {
				return true
			}
		}
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			if textIsReplaced(entry.Key()) || textIsReplaced(entry.Value()) {
				return true
			}
		}
	}
	return false
}
