// Package migrate is belfry migrate: the schema of the database.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

// Command are the commands about the database's schema.
func Command(a *console.App) *cobra.Command {
	return console.Group("migrate", "The database's schema", migrateUpCommand(a), migrateStatusCommand(a))
}

func migrateUpCommand(a *console.App) *cobra.Command {
	c := &cobra.Command{Use: "up", Short: "Bring the database's schema up to this program's version", Args: console.Args(0, 0, "no arguments"),
		Long: "Bring the database's schema up to this program's version: all missing migrations, step by step. They only go forward, and may run while Belfry does: a step that does not get its locks at once lets others pass and tries again, for ten minutes. It prints each migration that it applied itself, not what another process applied while it waited. Cut off, it is simply run again."}
	c.RunE = func(c *cobra.Command, _ []string) error {
		applied := []string{}
		migrator := postgres.Migrator{
			Waiting: func(reason string) { fmt.Fprintln(a.Errs, console.Clean(reason)) },
			Applied: func(name string) {
				applied = append(applied, name)
				if !a.JSON {
					fmt.Fprintln(a.Out, "applied", console.Clean(name))
				}
			},
		}
		err := migrator.Up(c.Context(), a.Database)
		switch {
		case a.JSON && (err == nil || len(applied) > 0):
			return errors.Join(err, a.PrintValue(map[string]any{"applied": applied}))
		case err == nil && len(applied) == 0:
			fmt.Fprintln(a.Out, "nothing left to do: the schema is up to date")
		}
		return err
	}
	a.DatabaseFlag(c, true)
	return c
}

func migrateStatusCommand(a *console.App) *cobra.Command {
	c := &cobra.Command{Use: "status", Short: "Which migrations the database has", Args: console.Args(0, 0, "no arguments"),
		Long: "Which migrations the database has. The exit code is 1 if this program cannot work on it."}
	c.RunE = func(c *cobra.Command, _ []string) error { return migrateStatus(c.Context(), a) }
	a.DatabaseFlag(c, true)
	return c
}

type migrationDoc struct {
	Version   int    `json:"version"`
	Name      string `json:"name"`
	AppliedAt string `json:"applied_at,omitempty"`
	Unknown   bool   `json:"unknown,omitempty"`
}

func migrateStatus(ctx context.Context, a *console.App) error {
	steps, err := postgres.Schema(ctx, a.Database)
	if err != nil {
		return err
	}
	fits := postgres.Fits(steps)
	var rows [][]string
	for _, step := range steps {
		state := console.ShowTime(step.AppliedAt)
		doc := migrationDoc{Version: step.Version, Name: step.Name, Unknown: step.Unknown}
		switch {
		case step.Unknown && fits:
			state += ", not known to this program, which works on it"
		case step.Unknown:
			state += ", not known to this program"
		case step.AppliedAt.IsZero():
			state = "missing"
		}
		if !step.AppliedAt.IsZero() {
			doc.AppliedAt = step.AppliedAt.UTC().Format(time.RFC3339Nano)
		}
		if a.JSON {
			if err := a.PrintValue(doc); err != nil {
				return err
			}
		}
		rows = append(rows, []string{strconv.Itoa(step.Version), step.Name, state})
	}
	if !a.JSON {
		console.WriteTable(a.Out, a.Width(), console.Columns("VERSION", "NAME…", "APPLIED AT"), rows)
	}
	if !fits {
		return &console.QuietError{Code: console.ExitFailed}
	}
	return nil
}
