package cloudrun

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/functions/boot"
)

// TestLogIsForCloudLogging: its names for the level and the text; an attribute of a group keeps its own.
func TestLogIsForCloudLogging(t *testing.T) {
	for level, want := range map[slog.Level]string{slog.LevelInfo: "INFO", slog.LevelWarn: "WARNING", slog.LevelError: "ERROR"} {
		var out bytes.Buffer
		NewLogger(boot.Settings{LogLevel: "info", LogFormat: "text"}, &out).Log(t.Context(), level, "told", "error", errors.New("why"), slog.Group("g", "level", "x"))
		var line struct {
			Severity, Message, Error string
			Time                     time.Time
			G                        map[string]string
		}
		if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Severity != want || line.Message != "told" || line.Error != "why" || line.Time.IsZero() || line.G["level"] != "x" {
			t.Errorf("%s: %v: %s", want, err, out.Bytes())
		}
	}
	var out bytes.Buffer
	NewLogger(boot.Settings{LogLevel: "error"}, &out).Warn("not told")
	if out.Len() > 0 {
		t.Errorf("below the level: %s", out.Bytes())
	}
}
