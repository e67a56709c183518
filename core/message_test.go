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
