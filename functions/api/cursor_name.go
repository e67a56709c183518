package api

import (
	"crypto/sha256"
	"encoding/base64"
)

// A cursor of a list by name is the last name of a page and a hash of it and of the filter it belongs to; see
// encodeCursor.
const nameHashBytes = 8

func encodeNameCursor(filter, name string) string {
	sum := sha256.Sum256([]byte(name + "\x00" + filter))
	return base64.RawURLEncoding.EncodeToString(append([]byte(name), sum[:nameHashBytes]...))
}

func decodeNameCursor(filter, text string) (name string, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) <= nameHashBytes {
		return "", false
	}
	name = string(b[:len(b)-nameHashBytes])
	return name, encodeNameCursor(filter, name) == text
}

// nameCursor reads the parameter cursor: the name to go on after, "" to begin.
func (p *params) nameCursor(filter string) string {
	if !p.values.Has("cursor") {
		return ""
	}
	name, ok := decodeNameCursor(filter, p.values.Get("cursor"))
	if !ok {
		p.errs.Add("cursor", "must be the next_cursor of a page with the same filters")
	}
	return name
}
