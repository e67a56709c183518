package handler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// decodeError says why a payload does not decode. Its text names positions and Go types but no values, so that it may be
// logged and all dead letters with this fault have the same text.
type decodeError struct {
	text string
	err  error
}

func (e *decodeError) Error() string { return "payload: " + e.text }
func (e *decodeError) Unwrap() error { return e.err }

// decode decodes a payload into a T. Strict refuses fields that T does not have.
func decode[T any](payload json.RawMessage, strict bool) (T, error) {
	var v T
	if len(payload) == 0 {
		payload = json.RawMessage("{}")
	}
	decoder := json.NewDecoder(bytes.NewReader(payload))
	if strict {
		decoder.DisallowUnknownFields()
	}
	err := decoder.Decode(&v)
	if err == nil && trailing(decoder) {
		err = errTrailing
	}
	if err != nil {
		return v, &decodeError{describe[T](err), err}
	}
	return v, nil
}

var errTrailing = errors.New("more than one JSON value")

// trailing reports whether more than white space follows the value that was read.
func trailing(decoder *json.Decoder) bool {
	_, err := decoder.Token()
	return !errors.Is(err, io.EOF)
}

func describe[T any](err error) string {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		kind, _, _ := strings.Cut(wrong.Value, " ") // "number 1e400" holds the value
		place := ""
		if wrong.Field != "" {
			place = wrong.Field + ": "
		}
		return fmt.Sprintf("%sa JSON %s does not decode into %s", place, kind, wrong.Type)
	case errors.As(err, &syntax):
		return fmt.Sprintf("not JSON, at byte %d", syntax.Offset)
	case errors.Is(err, errTrailing), errors.Is(err, io.ErrUnexpectedEOF):
		return "not one whole JSON value"
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Sprintf("%T has no field %s", *new(T), field)
	}
	return fmt.Sprintf("a value is refused by its own decoder, with a %T", err)
}
