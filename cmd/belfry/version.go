package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core/schedule"
)

func versionCommand(a *console.App) *cobra.Command {
	return &cobra.Command{Use: "version", Short: "This program's version, and that of its time zone database", Args: console.Args(0, 0, "no arguments"), RunE: func(*cobra.Command, []string) error {
		if a.JSON {
			return a.PrintValue(map[string]string{"version": console.Version(), "go": runtime.Version(), "tz_data": schedule.TZDataVersion()})
		}
		fmt.Fprintf(a.Out, "belfry %s (%s, time zones %s)\n", console.Version(), runtime.Version(), schedule.TZDataVersion())
		return nil
	}}
}
