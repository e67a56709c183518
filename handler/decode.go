package handler

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/belfry-dev/belfry/core/jsonfault"
)

// decodeError says why a payload does not decode. Its text names fields and what they must be but no values, so that it may be
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
		return v, &decodeError{describe(err), err}
	}
	return v, nil
}

var errTrailing = errors.New("more than one JSON value")

// trailing reports whether more than white space follows the value that was read.
func trailing(decoder *json.Decoder) bool {
	_, err := decoder.Token()
	return !errors.Is(err, io.EOF)
}

func describe(err error) string {
	if errors.Is(err, errTrailing) {
		return "is not one whole JSON value"
	}
	return jsonfault.Text(err)
}
