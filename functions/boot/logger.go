package boot

import (
	"bytes"
	"io"
	"log"
	"log/slog"
)

var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// QuietStandardLog sends the output of the standard log to log, at debug level and without quoted parts: net/http quotes
// what a webhook's receiver sent after its answer, which may be the payload and the lease token.
func QuietStandardLog(to *slog.Logger) {
	slog.SetDefault(to)
	slog.SetLogLoggerLevel(slog.LevelDebug)
	log.SetOutput(unquoted{log.Writer()})
}

// unquoted passes lines on up to their first quote.
type unquoted struct{ to io.Writer }

func (u unquoted) Write(line []byte) (int, error) {
	text, _, quotes := bytes.Cut(line, []byte{'"'})
	if quotes {
		text = append(bytes.Clone(text), "…\n"...)
	}
	_, err := u.to.Write(text)
	return len(line), err
}

// NewLogger returns the logger that the settings ask for, writing to w.
func NewLogger(s Settings, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: logLevels[s.LogLevel]}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// DatabaseWarnings logs a store's warnings about its database.
func DatabaseWarnings(log *slog.Logger) func(text string) {
	return func(text string) { log.Warn("database", "warning", text) }
}

// MigrationsApplied logs each migration that this process applied.
func MigrationsApplied(log *slog.Logger) func(name string) {
	return func(name string) { log.Info("migration applied", "name", name) }
}
