package api

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"

	"github.com/belfry-dev/belfry/functions/api/show"
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

// writePage answers with one page of a list whose items are all at hand.
func writePage[T any](w http.ResponseWriter, items []T, next string, one func(b []byte, item *T) []byte) {
	b := []byte(`{"items":[`)
	for i := range items {
		b = one(show.Comma(b, i), &items[i])
	}
	b = append(b, `],"next_cursor":`...)
	writeJSON(w, http.StatusOK, append(strconv.AppendQuote(b, next), '}'))
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
