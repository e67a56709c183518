package call

import (
	"crypto/sha256"
	"encoding/base64"
)

// A cursor of a list by name is the last name of a page and a hash of it and of the filter it belongs to; see
// EncodeCursor.
const nameHashBytes = 8

// EncodeNameCursor makes the cursor of the items after name under a filter.
func EncodeNameCursor(filter, name string) string {
	sum := sha256.Sum256([]byte(name + "\x00" + filter))
	return base64.RawURLEncoding.EncodeToString(append([]byte(name), sum[:nameHashBytes]...))
}

func decodeNameCursor(filter, text string) (name string, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) <= nameHashBytes {
		return "", false
	}
	name = string(b[:len(b)-nameHashBytes])
	return name, EncodeNameCursor(filter, name) == text
}

// NameCursor reads the parameter cursor: the name to go on after, "" to begin.
func (p *Params) NameCursor(filter string) string {
	if !p.Values.Has("cursor") {
		return ""
	}
	name, ok := decodeNameCursor(filter, p.Values.Get("cursor"))
	if !ok {
		p.Errs.Add("cursor", "must be the next_cursor of a page with the same filters")
	}
	return name
}
