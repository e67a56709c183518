package host

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
)

// Platform is what differs between the places where Belfry runs.
type Platform struct {
	Cloud       boot.Cloud
	Where       string            // begins Host.Name; see boot.InstanceName
	Defaults    map[string]string // of settings that are not set. Nil means the usual ones
	OpenTimeout time.Duration     // of Open
	// Environment readies the environment before the settings are read. Nil means that it is ready.
	Environment func(ctx context.Context) error
	// Logger makes the log. Nil means boot.NewLogger on standard error.
	Logger func(boot.Settings) *slog.Logger
	// OpenStore opens the store. What must be closed after it is given to h.CloseLater first.
	OpenStore func(ctx context.Context, h *Host) (core.Store, error)
	// OpenQueue opens three queues, one per priority. Visibility is for those who receive, and zero for the others.
	OpenQueue func(ctx context.Context, urls map[core.Priority]string, visibility time.Duration) (core.Queue, error)
	// OpenWaker returns a function that wakes the tick at an address.
	OpenWaker func(ctx context.Context, h *Host, address string) (wake func(context.Context) error, err error)
}

// ReadSettings reads the settings of a program that needs PostgreSQL.
func (p Platform) ReadSettings(ctx context.Context) (boot.Settings, error) {
	if p.Environment != nil {
		if err := p.Environment(ctx); err != nil {
			return boot.Settings{}, err
		}
	}
	settings, err := boot.ReadSettingsOr(p.Defaults)
	if err == nil {
		err = settings.CheckCloud(p.Cloud)
	}
	if err == nil && settings.DatabaseURL == "" {
		err = errors.New("BELFRY_DATABASE_URL is not set")
	}
	return settings, err
}

// OpenQueues opens the queues that the settings name; nil if they name none.
func (p Platform) OpenQueues(ctx context.Context, s boot.Settings, visibility time.Duration) (core.Queue, error) {
	return s.OpenQueues(func(urls map[core.Priority]string) (core.Queue, error) { return p.OpenQueue(ctx, urls, visibility) })
}

// NewLogger returns the log of the process. The standard log goes there, too.
func (p Platform) NewLogger(s boot.Settings) *slog.Logger {
	var log *slog.Logger
	if p.Logger != nil {
		log = p.Logger(s)
	} else {
		log = boot.NewLogger(s, os.Stderr)
	}
	boot.QuietStandardLog(log)
	boot.WarnOfMisspelt(log)
	return log
}
