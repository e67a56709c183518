package call

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// A cursor is the id a page ended at and a hash of it and of the filter it belongs to. It is no secret and
// gives no right; the hash keeps a cursor from being used with another filter, or made up by mistake.
const cursorBytes = 16

// EncodeCursor makes the cursor of the jobs below id under a filter.
func EncodeCursor(filter string, id int64) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(id))
	sum := sha256.Sum256(append(b, filter...))
	return base64.RawURLEncoding.EncodeToString(append(b, sum[:cursorBytes-8]...))
}

// decodeCursor is the inverse under the same filter.
func decodeCursor(filter, text string) (id int64, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != cursorBytes {
		return 0, false
	}
	id = int64(binary.BigEndian.Uint64(b))
	return id, id > 0 && EncodeCursor(filter, id) == text
}

// Cursor reads the parameter cursor: the id to go on below, 0 to begin.
func (p *Params) Cursor(filter string) int64 {
	if !p.Values.Has("cursor") {
		return 0
	}
	id, ok := decodeCursor(filter, p.Values.Get("cursor"))
	if !ok {
		p.Errs.Add("cursor", "must be the next_cursor of a page with the same filters")
	}
	return id
}

// Filter is the query without what may change from page to page.
func (p *Params) Filter(call string) string {
	var b strings.Builder
	b.WriteString(call + "\x02" + p.tenantOnly)
	for _, name := range sortedNames(p.Values) {
		if name == "cursor" || name == "limit" {
			continue
		}
		for _, value := range p.Values[name] {
			b.WriteString("\x00" + name + "\x01" + value)
		}
	}
	return b.String()
}
