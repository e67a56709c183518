package boot

import (
	"io"
	"log/slog"
)

var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// QuietStandardLog sends what libraries write by the standard log to log, at debug level: net/http quotes there what
// a webhook's receiver sent beyond its answer.
func QuietStandardLog(to *slog.Logger) {
	slog.SetDefault(to)
	slog.SetLogLoggerLevel(slog.LevelDebug)
}

// NewLogger returns the logger that the settings ask for, writing to w.
func NewLogger(s Settings, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: logLevels[s.LogLevel]}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
