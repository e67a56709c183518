package client

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/jsonscan"
)

// textRule is the API's rule for text in another encoding.
const textRule = "must be valid UTF-8"

// encode writes the document of a call. It refuses fields with bytes that are not UTF-8, as the API does: encoding/json
// would replace them by U+FFFD, so that two keys could become one.
func encode(document any) ([]byte, error) {
	b, err := json.Marshal(document)
	if err != nil || !core.ReplacesText(b) {
		return b, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return nil, err
	}
	var faults FieldErrors
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if core.ReplacesText(fields[name]) {
			faults.Add(name, textRule)
		}
	}
	return nil, faults.Err()
}

// withMember appends a member to a document, byte for byte.
func withMember(document []byte, name string, value []byte) []byte {
	document = append(document[:len(document)-1], `,"`+name+`":`...)
	return append(append(document, value...), '}')
}

// nameOf returns what the last part of a path under /v1 names.
var nameOf = map[string]string{"jobs": "id", "types": "type", "schedules": "name", "tokens": "id"}

// check refuses values that a request cannot carry or would change.
func (c *call) check() error {
	var faults FieldErrors
	if strings.Contains(c.path, noSchedule) {
		faults.Add("name", `must not be empty, ".", ".." or "preview"`)
	}
	if path, err := url.PathUnescape(c.path); err != nil || !utf8.ValidString(path) {
		faults.Add(nameOf[strings.Split(c.path+"//", "/")[2]], textRule)
	}
	for _, name := range slices.Sorted(maps.Keys(c.query)) {
		if slices.ContainsFunc(c.query[name], func(text string) bool { return !utf8.ValidString(text) }) {
			faults.Add(name, textRule)
		}
	}
	if !utf8.Valid(c.body) {
		faults.Add("body", "%s", jsonscan.EncodingFault(c.body))
	}
	if len(c.key) > 255 || strings.ContainsFunc(c.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		faults.Add(keyHeader, "must be 1 to 255 visible ASCII characters")
	}
	return faults.Err()
}
