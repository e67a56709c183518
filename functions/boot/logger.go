package boot

import (
	"io"
	"log/slog"
)

var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// NewLogger returns the logger that the settings ask for, writing to w.
func NewLogger(s Settings, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: logLevels[s.LogLevel]}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
