package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/adapters/postgres"
)

func (a *app) migrateUpCommand() *cobra.Command {
	c := &cobra.Command{Use: "up", Short: "Bring the database's schema up to this program's version", Args: counted(0, 0, "no arguments"),
		Long: "Bring the database's schema up to this program's version: all missing migrations, step by step. They only go forward, and may run while Belfry does: a step that does not get its locks at once lets others pass and tries again, for ten minutes. It prints each migration that it applied itself, not what another process applied while it waited. Cut off, it is simply run again."}
	c.RunE = func(c *cobra.Command, _ []string) error {
		applied := []string{}
		migrator := postgres.Migrator{
			Waiting: func(reason string) { fmt.Fprintln(a.errs, clean(reason)) },
			Applied: func(name string) {
				applied = append(applied, name)
				if !a.json {
					fmt.Fprintln(a.out, "applied", clean(name))
				}
			},
		}
		err := migrator.Up(c.Context(), a.database)
		switch {
		case a.json && (err == nil || len(applied) > 0):
			return errors.Join(err, a.printValue(map[string]any{"applied": applied}))
		case err == nil && len(applied) == 0:
			fmt.Fprintln(a.out, "nothing left to do: the schema is up to date")
		}
		return err
	}
	a.databaseFlag(c, true)
	return c
}

func (a *app) migrateStatusCommand() *cobra.Command {
	c := &cobra.Command{Use: "status", Short: "Which migrations the database has", Args: counted(0, 0, "no arguments"),
		Long: "Which migrations the database has. The exit code is 1 if this program cannot work on it."}
	c.RunE = func(c *cobra.Command, _ []string) error { return a.migrateStatus(c.Context()) }
	a.databaseFlag(c, true)
	return c
}

type migrationDoc struct {
	Version   int    `json:"version"`
	Name      string `json:"name"`
	AppliedAt string `json:"applied_at,omitempty"`
	Unknown   bool   `json:"unknown,omitempty"`
}

func (a *app) migrateStatus(ctx context.Context) error {
	steps, err := postgres.Schema(ctx, a.database)
	if err != nil {
		return err
	}
	fits := postgres.Fits(steps)
	var rows [][]string
	for _, step := range steps {
		state := showTime(step.AppliedAt)
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
		if a.json {
			if err := a.printValue(doc); err != nil {
				return err
			}
		}
		rows = append(rows, []string{strconv.Itoa(step.Version), step.Name, state})
	}
	if !a.json {
		writeTable(a.out, a.width(), columns("VERSION", "NAME…", "APPLIED AT"), rows)
	}
	if !fits {
		return &quietError{exitFailed}
	}
	return nil
}
