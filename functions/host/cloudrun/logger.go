package cloudrun

import (
	"io"
	"log/slog"

	"github.com/belfry-dev/belfry/functions/boot"
)

// NewLogger returns a logger of JSON lines as Cloud Logging reads them: severity for the level, message for the text.
// The level is the settings'; the format of the settings is for people, and not looked at.
func NewLogger(s boot.Settings, w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // checked with the settings
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: forCloudLogging}))
}

func forCloudLogging(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	switch a.Key {
	case slog.MessageKey:
		a.Key = "message"
	case slog.LevelKey:
		a.Key = "severity"
		if level, ok := a.Value.Any().(slog.Level); ok && level == slog.LevelWarn {
			a.Value = slog.StringValue("WARNING")
		}
	}
	return a
}
