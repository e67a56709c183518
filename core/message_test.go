package core

import (
	"errors"
	"strings"
	"testing"
)

func TestMessageGolden(t *testing.T) {
	m := Message{ID: 9007199254740993, Token: 7, Priority: Critical, Type: "echo", Tenant: "a\"b", Trace: "00-x"}
	want := `{"v":1,"id":"9007199254740993","token":"7","priority":"critical","type":"echo","tenant":"a\"b","trace":"00-x"}`
	if got := string(m.Encode()); got != want {
		t.Fatalf("Encode:\n got %s\nwant %s", got, want)
	}
	back, err := DecodeMessage([]byte(want))
	if err != nil || back != m {
		t.Fatalf("DecodeMessage: %+v, %v", back, err)
	}
}

func TestDecodeMessageRefuses(t *testing.T) {
	for name, body := range map[string]string{
		"empty":         "",
		"not JSON":      "hello",
		"wrong shape":   `[1]`,
		"newer version": `{"v":2,"id":"1","token":"1","priority":"bulk"}`,
		"no version":    `{"id":"1","token":"1","priority":"bulk"}`,
		"priority":      `{"v":1,"id":"1","token":"1","priority":"urgent"}`,
		"id zero":       `{"v":1,"id":"0","token":"1","priority":"bulk"}`,
		"id a number":   `{"v":1,"id":1,"token":"1","priority":"bulk"}`,
		"id too big":    `{"v":1,"id":"9223372036854775808","token":"1","priority":"bulk"}`,
		"token":         `{"v":1,"id":"1","token":"-1","priority":"bulk"}`,
		"not UTF-8":     "{\"v\":1,\"id\":\"1\",\"token\":\"1\",\"priority\":\"bulk\",\"type\":\"\xff\"}",
		"too long":      `{"v":1,"id":"1","token":"1","priority":"bulk","type":"` + strings.Repeat("x", MaxMessageBytes) + `"}`,
	} {
		if _, err := DecodeMessage([]byte(body)); !errors.Is(err, ErrMessage) {
			t.Errorf("%s: got %v, want ErrMessage", name, err)
		}
	}
}

// Messages are written and read by hand where they are plain. Whatever their texts, the bytes are those of
// encoding/json.
func TestMessageByHand(t *testing.T) {
	texts := []string{"", "echo", "a.b-c_d/e", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", `a"b`, `a\b`, "<", ">", "&", "ü", "a\u2028b", "\t", "\x7f", "\xff", "~ !"}
	for i, text := range texts {
		m := Message{ID: 1<<63 - 1 - int64(i), Token: int64(i), Priority: Priorities[i%3], Type: text, Tenant: texts[(i+1)%len(texts)], Trace: texts[(i+5)%len(texts)]}
		body := m.Encode()
		if want := m.encodeAny(); string(body) != string(want) {
			t.Errorf("Encode:\n got %s\nwant %s", body, want)
		}
		got, err := DecodeMessage(body)
		if want, fault := decodeAny(body); got != want || err != nil || fault != nil {
			t.Errorf("%s:\n got %+v, %v\nwant %+v, %v", body, got, err, want, fault)
		}
	}
}

func FuzzDecodeMessage(f *testing.F) {
	for _, body := range []string{
		`{"v":1,"id":"12","token":"7","priority":"bulk","type":"echo","tenant":"t","trace":"00-x"}`,
		`{"v":1,"id":"007","token":"0","priority":"default"}`,
		`{"v":1,"id":"0","token":"0","priority":"default"}`,
		`{"v":1,"id":"","token":"1","priority":"default"}`,
		`{"v":1,"id":"1","token":"","priority":"default"}`,
		`{"v":1,"id":"18446744073709551617","token":"1","priority":"default"}`,
		`{"v":1,"id":"+1","token":"1","priority":"bulk"}`,
		`{"v":1,"id":"1","token":"1","priority":"bulk","type":""}`,
		`{"v":1,"id":"1","token":"1","priority":"bulk","type":"a","type":"b"}`,
		`{"v":1,"id":"1","token":"1","priority":"bulk","tenant":"a","type":"b"}`,
		`{"v":1,"id":"1","token":"1","priority":"bulk","type":"a"} `,
		`{"v":1,"id":"1","token":"1","priority":"bulk"}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, ok := decodePlain(body)
		if want, err := decodeAny(body); ok && (err != nil || got != want) {
			t.Errorf("%q:\n got %+v\nwant %+v, %v", body, got, want, err)
		}
	})
}

// BenchmarkMessage writes and reads a message by hand, as plain ones are, and by encoding/json.
func BenchmarkMessage(b *testing.B) {
	m := Message{ID: 123456, Token: 7, Priority: Default, Type: "noop"}
	for name, way := range map[string]struct {
		write func() []byte
		read  func([]byte) (Message, error)
	}{
		"by hand":       {m.Encode, DecodeMessage},
		"encoding/json": {m.encodeAny, decodeAny},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := way.read(way.write()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
