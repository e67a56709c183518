package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
)

func (a *app) statsCommand() *cobra.Command {
	return &cobra.Command{Use: "stats", Short: "Queue and job counts", Args: counted(0, 0, "no arguments"), RunE: func(c *cobra.Command, _ []string) error {
		api, err := a.client()
		if err != nil {
			return err
		}
		s, err := api.Stats(c.Context())
		if err != nil {
			return err
		}
		if a.json {
			a.printDocument(s.Document())
			return nil
		}
		a.writeStats(a.out, s)
		return nil
	}}
}

// count shows a number that counting may have stopped at.
func count(n int, capped bool) string {
	if capped && n >= 100_000 {
		return strconv.Itoa(n) + "+"
	}
	return strconv.Itoa(n)
}

func (a *app) writeStats(w io.Writer, s *client.Stats) {
	var queues, types [][]string
	for _, q := range s.Queues {
		queues = append(queues, []string{
			string(q.Priority), count(q.Scheduled, q.Capped), count(q.Due, q.Capped), count(q.Queued, q.Capped), count(q.Running, q.Capped),
			short(q.OldestDue), short(q.LagP50), short(q.LagP99),
		})
	}
	writeTable(w, a.width(), columns("PRIORITY", "SCHEDULED", "DUE", "QUEUED", "RUNNING", "OLDEST DUE", "LAG P50", "LAG P99"), queues)
	fmt.Fprintln(w)
	for _, t := range s.Types {
		types = append(types, []string{
			t.Type, strconv.Itoa(t.Workers), whole(t.Starts), whole(t.Done), whole(t.Retried), whole(t.Failed), whole(t.Cancelled), whole(t.Lost), whole(t.Snoozed),
			unlessZero(t.Strayed), unlessZero(int64(t.Unhandled)),
		})
	}
	if len(types) > 0 {
		writeTable(w, a.width(), columns("TYPE…12", "WORKERS", "STARTS", "DONE", "RETRIED", "FAILED", "CANCELLED?", "LOST", "SNOOZED?", "STRAYED?", "UNHANDLED"), types)
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
		count(s.DeadLetters, s.Capped), s.Stuck, count(s.Unhandled, s.Capped), short(s.Window))
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

// unlessZero shows a number that is rarely another.
func unlessZero(n int64) string {
	if n == 0 {
		return ""
	}
	return whole(n)
}

// short is a duration as people want to read it.
func short(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return clean(text)
	}
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.String()
}

func (a *app) topCommand() *cobra.Command {
	every := 2 * time.Second
	var times int
	c := &cobra.Command{Use: "top", Short: "The numbers, again and again", Args: counted(0, 0, "no arguments"),
		Long: "The numbers, again and again, until Ctrl-C. Where the output is no terminal they follow one another."}
	flagsOf(c).length(&every, "every", 100*time.Millisecond, 24*time.Hour, "time between two looks")
	flagsOf(c).count(&times, "times", 0, math.MaxInt, "looks; 0 means until Ctrl-C")
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.client()
		if err != nil {
			return err
		}
		return a.top(c.Context(), api, every, times)
	}
	return c
}

// top goes on through outages: that is when one looks.
func (a *app) top(ctx context.Context, api *client.Client, every time.Duration, times int) error {
	live := a.width() > 0 && !a.json
	var last error
	for n := 1; ; n++ {
		s, err := api.Stats(ctx)
		if ctx.Err() != nil {
			break // Ctrl-C is how it ends
		}
		last = err
		if live {
			fmt.Fprint(a.out, "\x1b[H\x1b[2J")
		}
		switch {
		case err != nil && (n == 1 || n == times):
			return err
		case err != nil:
			fmt.Fprintln(a.out, "belfry:", clean(err.Error()))
		case a.json:
			a.printDocument(s.Document())
		default:
			fmt.Fprintf(a.out, "%s  %s\n\n", clean(a.address), showTime(s.Now))
			a.writeStats(a.out, s)
		}
		if n == times {
			return last
		}
		if !live && !a.json {
			fmt.Fprintln(a.out)
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
