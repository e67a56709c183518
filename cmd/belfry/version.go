package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/boot"
)

func version() string { return boot.Version() }

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "This program's version, and that of its time zone database", Args: counted(0, 0, "no arguments"), RunE: func(*cobra.Command, []string) error {
		if a.json {
			return a.printValue(map[string]string{"version": version(), "go": runtime.Version(), "tz_data": schedule.TZDataVersion()})
		}
		fmt.Fprintf(a.out, "belfry %s (%s, time zones %s)\n", version(), runtime.Version(), schedule.TZDataVersion())
		return nil
	}}
}
