// Package stats is belfry stats and belfry top: the counts of queues and types.
package stats

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

// Command is belfry stats.
func Command(a *console.App) *cobra.Command {
	return &cobra.Command{Use: "stats", Short: "Queue and job counts", Args: console.Args(0, 0, "no arguments"), RunE: func(c *cobra.Command, _ []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		s, err := api.Stats(c.Context())
		if err != nil {
			return err
		}
		if a.JSON {
			a.PrintDocument(s.Document())
			return nil
		}
		writeStats(a, a.Out, s)
		return nil
	}}
}

func writeStats(a *console.App, w io.Writer, s *client.Stats) {
	var queues, types [][]string
	for _, q := range s.Queues {
		queues = append(queues, []string{
			string(q.Priority), console.Count(q.Scheduled, q.Capped), console.Count(q.Due, q.Capped), console.Count(q.Queued, q.Capped), console.Count(q.Running, q.Capped),
			console.Short(q.OldestDue), console.Short(q.LagP50), console.Short(q.LagP99),
		})
	}
	console.WriteTable(w, a.Width(), console.Columns("PRIORITY", "SCHEDULED", "DUE", "QUEUED", "RUNNING", "OLDEST DUE", "LAG P50", "LAG P99"), queues)
	fmt.Fprintln(w)
	for _, t := range s.Types {
		types = append(types, []string{
			t.Type, strconv.Itoa(t.Workers), whole(t.Starts), whole(t.Done), whole(t.Retried), whole(t.Failed), whole(t.Cancelled), whole(t.Lost), whole(t.Snoozed),
			unlessZero(t.Strayed), unlessZero(int64(t.Unhandled)),
		})
	}
	if len(types) > 0 {
		console.WriteTable(w, a.Width(), console.Columns("TYPE…12", "WORKERS", "STARTS", "DONE", "RETRIED", "FAILED", "CANCELLED?", "LOST", "SNOOZED?", "STRAYED?", "UNHANDLED"), types)
		fmt.Fprintln(w)
	}
	if u := s.Slots; u.All > 0 {
		fmt.Fprintf(w, "slots in use %d of %d", u.Busy, u.All)
		if u.ForDeliveries > 0 {
			fmt.Fprintf(w, ", for deliveries %d of %d", u.Deliveries, u.ForDeliveries)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "dead letters %s, stuck %d, unhandled %s; lags and types of the last %s\n",
		console.Count(s.DeadLetters, s.Capped), s.Stuck, console.Count(s.Unhandled, s.Capped), console.Short(s.Window))
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

// unlessZero shows a number that is rarely another.
func unlessZero(n int64) string {
	if n == 0 {
		return ""
	}
	return whole(n)
}

// TopCommand is belfry top.
func TopCommand(a *console.App) *cobra.Command {
	every := 2 * time.Second
	var times int
	c := &cobra.Command{Use: "top", Short: "The numbers, again and again", Args: console.Args(0, 0, "no arguments"),
		Long: "The numbers, again and again, until Ctrl-C. Where the output is no terminal they follow one another."}
	console.FlagsOf(c).Length(&every, "every", 100*time.Millisecond, 24*time.Hour, "time between two looks")
	console.FlagsOf(c).Count(&times, "times", 0, math.MaxInt, "looks; 0 means until Ctrl-C")
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		return top(c.Context(), a, api, every, times)
	}
	return c
}

// top goes on through outages: that is when one looks.
func top(ctx context.Context, a *console.App, api *client.Client, every time.Duration, times int) error {
	live := a.Width() > 0 && !a.JSON
	var last error
	for n := 1; ; n++ {
		s, err := api.Stats(ctx)
		if ctx.Err() != nil {
			break // Ctrl-C is how it ends
		}
		last = err
		if live {
			fmt.Fprint(a.Out, "\x1b[H\x1b[2J")
		}
		switch {
		case err != nil && (n == 1 || n == times):
			return err
		case err != nil:
			fmt.Fprintln(a.Out, "belfry:", console.Clean(err.Error()))
		case a.JSON:
			a.PrintDocument(s.Document())
		default:
			fmt.Fprintf(a.Out, "%s  %s\n\n", console.Clean(a.Address), console.ShowTime(s.Now))
			writeStats(a, a.Out, s)
		}
		if n == times {
			return last
		}
		if !live && !a.JSON {
			fmt.Fprintln(a.Out)
		}
		if pause(ctx, every) != nil {
			break
		}
	}
	return nil //nolint:nilerr // Ctrl-C is how it ends, outage or not
}

// pause waits, or returns why ctx ended.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
