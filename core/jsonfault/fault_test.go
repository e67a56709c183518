package jsonfault_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core/jsonfault"
)

type level int

func (l *level) UnmarshalText([]byte) error { return nil }

// everything has a field of each kind of type that a payload decodes into.
type everything struct {
	Bool    bool
	Int     int
	Int8    int8
	Int16   int16
	Int32   int32
	Int64   int64
	Uint    uint
	Uint8   uint8
	Uint16  uint16
	Uint32  uint32
	Uint64  uint64
	Float32 float32
	Float64 float64
	String  string
	Bytes   []byte
	List    []string
	Array   [2]string
	Object  struct{ A int }
	Map     map[string]int
	Pointer *string
	Number  json.Number
	Time    time.Time
	Text    level
	Any     any
	Deep    []struct{ Inner struct{ N *int8 } }
}

// Every value that a field does not take is told by the field and the rule, in words of JSON.
func TestTextsSayFieldAndRule(t *testing.T) {
	values := []string{`true`, `"hunter2"`, `-7777777777777777777777`, `7777.75`, `1e400`, `[7777]`, `{"zz": 7777}`, `{"A": "hunter2"}`, `["hunter2", 7777]`, `[{"Inner": {"N": 7777}}]`}
	count := 0
	for field := range reflect.TypeFor[everything]().Fields() {
		for _, value := range values {
			err := json.Unmarshal([]byte(`{"`+field.Name+`": `+value+`}`), new(everything))
			if err == nil {
				continue
			}
			count++
			text := jsonfault.Text(err)
			if !strings.Contains(text, "must be") && !strings.Contains(text, "not one that its field takes") {
				t.Errorf("%s: %s: %q states no rule", field.Name, value, text)
			}
			if field.Type.Name() != "Time" && !strings.HasPrefix(text, field.Name) && !strings.Contains(text, "its field takes") {
				t.Errorf("%s: %s: %q does not name the field", field.Name, value, text)
			}
			for _, no := range []string{"json:", "Go ", "int8", "struct", "float", "uint", "jsonfault", "time.", "hunter2", "7777", "slice", "interface", "strconv"} {
				if strings.Contains(strings.TrimPrefix(text, field.Name), no) {
					t.Errorf("%s: %s: %q has %q", field.Name, value, text, no)
				}
			}
		}
	}
	if count < 150 {
		t.Errorf("%d values were refused", count)
	}
}

func TestTexts(t *testing.T) {
	for document, want := range map[string]string{
		``:                                "is not one whole JSON value",
		`{`:                               "is not",
		`hunter2`:                         "is not JSON, at byte 1",
		`[]`:                              "must be an object, not an array",
		`{"Int8": 300}`:                   "Int8: must be a whole number from -128 to 127",
		`{"Int64": 1e30}`:                 "Int64: must be a whole number that 64 bits can hold",
		`{"Uint64": -1}`:                  "Uint64: must be a whole number from 0 to 18446744073709551615",
		`{"Bool": "true"}`:                "Bool: must be true or false, not a string",
		`{"Deep": [{"Inner":{"N":"x"}}]}`: "Deep.Inner.N: must be a whole number from -128 to 127, not a string",
		`{"Time": "tomorrow"}`:            "a time in it must be RFC 3339",
	} {
		if err := json.Unmarshal([]byte(document), new(everything)); err == nil || !strings.Contains(jsonfault.Text(err), want) && document != "" {
			t.Errorf("%s: %q, want %q", document, jsonfault.Text(err), want)
		}
	}
}
