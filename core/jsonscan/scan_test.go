package jsonscan

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestScanJSONFacts(t *testing.T) {
	for text, want := range map[string]Facts{
		`null`:                             {0, -1, -1},
		` "a" `:                            {0, -1, -1},
		`-0`:                               {0, -1, -1},
		`1e400`:                            {0, -1, -1},
		`[]`:                               {1, -1, -1},
		`[{"a":1},[1,2],{}]`:               {2, -1, -1},
		`{"a":[{}],"a":1}`:                 {3, -1, -1},
		`"\ud83d\ude00"`:                   {0, -1, -1},
		`"\uD83D\uDE00"`:                   {0, -1, -1},
		`"\u0000"`:                         {0, 1, -1},
		`["\u0000","\u0000"]`:              {1, 2, -1},
		`{"a\u0000":1}`:                    {1, 3, -1},
		`"\ud83d"`:                         {0, -1, 1},
		`"\ude00"`:                         {0, -1, 1},
		`"x\ud83dx"`:                       {0, -1, 2},
		`"\ud83d\ud83d\ude00"`:             {0, -1, 1},
		`"\ud83d\u0000"`:                   {0, 7, 1},
		`"\ud83d\n"`:                       {0, -1, 1},
		`"\\u0000"`:                        {0, -1, -1},
		`"\\\u0000"`:                       {0, 3, -1},
		"\"\u2028 < > & \x7f \U0001f600\"": {0, -1, -1},
	} {
		if got, err := Scan([]byte(text)); err != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestScanJSONRefuses(t *testing.T) {
	for text, want := range map[string]Error{
		``:                              {0, "the text ends too early"},
		`  `:                            {2, "the text ends too early"},
		`[1,`:                           {3, "the text ends too early"},
		`[1,]`:                          {3, "a value must stand here"},
		`{"a":1,}`:                      {7, "a member's name in double quotes must stand here"},
		`{a:1}`:                         {1, "a member's name in double quotes must stand here"},
		`{"a" 1}`:                       {5, "a colon must stand here"},
		`{"a"`:                          {4, "a colon must stand here"},
		`[1}`:                           {2, "a comma or the closing bracket must stand here"},
		`{"a":1]`:                       {6, "a comma or the closing bracket must stand here"},
		`1 2`:                           {2, "something follows the value"},
		`[]]`:                           {2, "something follows the value"},
		`nul`:                           {3, "not one of true, false, null"},
		`NaN`:                           {0, "a value must stand here"},
		`01`:                            {1, "something follows the value"},
		`-`:                             {1, "a digit must stand here"},
		`1.`:                            {2, "a digit must stand here"},
		`.5`:                            {0, "a value must stand here"},
		`1e+`:                           {3, "a digit must stand here"},
		`"a`:                            {2, "a string has no end"},
		`"\x"`:                          {2, "no escape is written like this"},
		`"\u12g4"`:                      {5, "\\u needs four hexadecimal digits"},
		"\"a\nb\"":                      {2, "a control character in a string must be escaped"},
		"\"a\xffb\"":                    {2, "not valid UTF-8"},
		"\"\xed\xa0\x80\"":              {1, "not valid UTF-8"},
		"\xef\xbb\xbf{}":                {0, "the text begins with a byte order mark (EF BB BF), which JSON does not have; save it as UTF-8 without one"},
		"{}\x00":                        {2, "something follows the value: a NUL (U+0000)"},
		strings.Repeat("[", MaxDepth+1): {MaxDepth, "nested too deep"},
	} {
		_, err := Scan([]byte(text))
		var got *Error
		if !errors.As(err, &got) || *got != want {
			t.Errorf("%.40q: got %v, want %v", text, err, &want)
		}
	}
}

func TestScanJSONDepth(t *testing.T) {
	for _, depth := range []int{1, 63, 64, 65, 100, 101, MaxDepth} {
		for _, pair := range [][2]string{{"[", "]"}, {`{"a":`, "}"}} {
			text := strings.Repeat(pair[0], depth) + "1" + strings.Repeat(pair[1], depth)
			if got, err := Scan([]byte(text)); err != nil || got.Depth != depth {
				t.Errorf("depth %d of %s: got %+v, %v", depth, pair[0], got, err)
			}
		}
	}
}

func TestScanJSONAllocatesNothing(t *testing.T) {
	text := []byte(`{"a":[1,2.5e3,true,null,"é\u00e9\ud83d\ude00"],"b":{"c":{}}}`)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := Scan(text); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzScanJSON compares the scanner with encoding/json: both accept the same texts, and a text without a NUL or lone
// surrogate decodes to strings without U+0000 and without a replaced surrogate.
func FuzzScanJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0,1e5,"\u0000","\ud83d\ude00","\ud83d"]}`, `[[[]]]`, `"\/é"`, ` null `, "\"\xff\"", `{"a":1,"a":2}`, `1.5E-7`, `[1,]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		facts, err := Scan(text)
		if want := json.Valid(text) && utf8.Valid(text); (err == nil) != want {
			t.Fatalf("%q: %v, but encoding/json and utf8 say %t", text, err, want)
		}
		if err != nil {
			return
		}
		var v any
		if json.Unmarshal(text, &v) != nil {
			return // a number beyond float64
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if facts.Nul >= 0 != strings.Contains(strings.ReplaceAll(string(again), `\\`, ""), `\u0000`) && !hasDuplicates(text) {
			t.Errorf("%q: Nul %d, but it decodes to %s", text, facts.Nul, again)
		}
		if !strings.ContainsRune(string(text), utf8.RuneError) && !strings.Contains(strings.ToLower(string(text)), `\ufffd`) && !hasDuplicates(text) {
			if facts.Lone >= 0 != strings.ContainsRune(string(again), utf8.RuneError) {
				t.Errorf("%q: Lone %d, but it decodes to %s", text, facts.Lone, again)
			}
		}
	})
}

// hasDuplicates reports whether decoding may drop members: then the decoded value proves nothing.
func hasDuplicates(text []byte) bool { return strings.Count(string(text), ":") > 1 }

func BenchmarkScanJSON(b *testing.B) {
	text := []byte(`{"order":{"id":9007199254740993,"lines":[` + strings.Repeat(`{"sku":"A-17","n":3,"note":"naïve \"quoted\""},`, 100) + `{}]}}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Scan(text); err != nil {
			b.Fatal(err)
		}
	}
}
