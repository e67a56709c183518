package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/internal/queues"
)

func main() {
	var err error
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		err = serve(os.Args[2])
	} else {
		err = run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "accept:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	seed := flag.Uint64("seed", 1, "seed of the file")
	n := flag.Int("n", 0, "jobs; 0 means 20,000, and 2,000 over SQS, whose emulator counts a queue's messages for each one that is sent or received")
	url := flag.String("url", "", "server to use; empty starts one")
	queue := flag.String("queue", "", "how the started server's workers get their jobs: mem (cmd/local over queues in its memory), sqs, pubsub or rabbit\n(api, tick and worker, a process each, over a server of that kind); empty means straight from the table")
	dsn := flag.String("database-url", "", "PostgreSQL for the started server; empty means SQLite for cmd/local, else a temporary server")
	file := flag.String("file", "", "keep the generated JSON Lines file here")
	callers := flag.Int("callers", 64, "concurrent requests")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	if *n == 0 {
		*n = 20_000
		if *queue == queues.SQS {
			*n = 2_000
		}
	}
	lines, err := makeFile(*file, *seed, *n)
	if err != nil {
		return err
	}
	fmt.Printf("seed %d: %d lines\n", *seed, len(lines))
	if *url == "" {
		s, err := startServer(ctx, *dsn, *queue)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.stop(ctx)) }()
		*url = s.url
	}
	return accept(ctx, newClient(*url, *callers), lines)
}

// accept submits, waits, checks and prints.
func accept(ctx context.Context, c *client, lines []line) error {
	start := time.Now()
	done := progress("submitted", len(lines))
	if err := c.submit(ctx, lines, done); err != nil {
		return err
	}
	took := time.Since(start)
	fmt.Printf("submitted %d in %s (%.0f/s)\n", len(lines), took.Round(time.Millisecond), float64(len(lines))/took.Seconds())
	if err := c.cancelRunning(ctx, lines); err != nil {
		return err
	}
	r, err := c.check(ctx, lines, progress("checked", len(lines)))
	if err != nil {
		return err
	}
	fmt.Printf("all ended after %s: done %d, failed %d, cancelled %d\n", time.Since(start).Round(time.Millisecond), r.ends["done"], r.ends["failed"], r.ends["cancelled"])
	fmt.Printf("schedule lag of %d first attempts: p50 %s, p99 %s\n", len(r.lags), quantile(r.lags, 0.5), quantile(r.lags, 0.99))
	for i, f := range r.faults {
		if i == 20 {
			fmt.Printf("… and %d more\n", len(r.faults)-i)
			break
		}
		fmt.Println("FAULT", f)
	}
	if len(r.faults) > 0 {
		return fmt.Errorf("%d faults", len(r.faults))
	}
	fmt.Printf("%d lines hold: every end, attempt count and payload is as the file implies\n", len(lines))
	return nil
}

// makeFile generates the file (at path, or a temporary one) and reads it back: what is submitted is what it says.
func makeFile(path string, seed uint64, n int) ([]line, error) {
	if path == "" {
		dir, err := os.MkdirTemp("", "belfry-jobs-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		path = filepath.Join(dir, "jobs.jsonl")
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := generate(f, seed, n); err != nil {
		f.Close()
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	if f, err = os.Open(path); err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []line
	for s := bufio.NewScanner(f); s.Scan(); {
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s line %d: %w", path, len(lines)+1, err)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// progress prints a line each time another tenth of total is reached.
func progress(what string, total int) func(int) {
	var count atomic.Int64
	return func(n int) {
		now := count.Add(int64(n))
		if tenth := int64(max(total/10, 1)); now/tenth != (now-int64(n))/tenth {
			fmt.Printf("%s %d of %d\n", what, now, total)
		}
	}
}
