package boot

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"testing"
)

// net/http logs what a receiver sends beyond its answer; one that echoes a delivery put payload and lease token there.
func TestStandardLogQuotesNothing(t *testing.T) {
	before, writer, flags := slog.Default(), log.Writer(), log.Flags()
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(writer)
		log.SetFlags(flags)
	})
	var out bytes.Buffer
	QuietStandardLog(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	log.Printf("Unsolicited response received on idle HTTP channel starting with %q; err=%v", `{"password":"canary"} blt1_canary`, nil)
	log.Print("a plain line")
	text := out.String()
	if strings.Contains(text, "canary") || strings.Contains(text, "password") {
		t.Errorf("quoted: %s", text)
	}
	for _, want := range []string{"Unsolicited response", "a plain line", `"level":"DEBUG"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing: %s", want, text)
		}
	}
}
