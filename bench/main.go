// Command bench drives Belfry and River in alternation on one PostgreSQL server and prints what each did,
// and the ratio.
//
//	go run . [-dsn ...] [-quick] [-only name,name] [-runs 3] [-out RESULTS.md]
//
// Each measurement runs in a process and a database of its own. Without -dsn the benchmark starts a durable
// server of its own and stops it at the end.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/belfry-dev/belfry/bench/scenario"
	"github.com/belfry-dev/belfry/internal/pgserver"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == measureCommand {
		exit(measureMain())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := benchMain(ctx)
	stop()
	exit(err)
}

func exit(err error) {
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serverOptions make a server that is durable, as one in production is, and so large that the figures are not
// those of its checkpoints.
var serverOptions = pgserver.Options{Durable: true, Settings: map[string]string{
	"synchronous_commit": "on", "shared_buffers": "2GB", "max_wal_size": "8GB",
}}

// options are the command line.
type options struct {
	dsn   string
	quick bool
	only  string
	runs  int
	out   string
	notes string
}

func parseOptions() options {
	var o options
	flag.StringVar(&o.dsn, "dsn", "", "`URL` of the PostgreSQL to use, as a user who may create databases (default: a server of its own)")
	flag.BoolVar(&o.quick, "quick", false, "small sizes: to see that it works, not for figures")
	flag.StringVar(&o.only, "only", "", "comma-separated names of scenarios, or of systems, to run")
	flag.IntVar(&o.runs, "runs", 3, "runs of each case; medians are printed")
	flag.StringVar(&o.out, "out", "", "file to write the results to, in Markdown")
	flag.StringVar(&o.notes, "notes", "NOTES.md", "file whose text is put below the results")
	flag.Parse()
	return o
}

func benchMain(ctx context.Context) (err error) {
	o := parseOptions()
	scenarios, err := choose(o.only)
	if err != nil {
		return err
	}
	if o.dsn == "" {
		server, startErr := pgserver.Start(ctx, serverOptions)
		if startErr != nil {
			return startErr
		}
		defer func() { err = errors.Join(err, server.Close()) }()
		o.dsn = server.URL()
	}
	report := newReport(ctx, o)
	for _, s := range scenarios {
		results, err := alternate(ctx, o, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		report.add(s, results)
		report.printLast(os.Stdout)
	}
	if o.out == "" {
		return nil
	}
	return report.write(o.out, o.notes)
}

// choose returns the scenarios named, or all of them. Names of systems keep the cases of those systems only.
func choose(only string) ([]scenario.Scenario, error) {
	all := scenario.All()
	if only == "" {
		return all, nil
	}
	var names []string
	var chosen []scenario.Scenario
	systems := map[string]bool{}
	for name := range strings.SplitSeq(only, ",") {
		if name == "belfry" || name == "river" {
			systems[name] = true
			continue
		}
		s, ok := scenario.Find(name)
		if !ok {
			for _, s := range all {
				names = append(names, s.Name)
			}
			return nil, fmt.Errorf("unknown scenario %q: want belfry, river or of %s", name, strings.Join(names, ", "))
		}
		chosen = append(chosen, s)
	}
	if len(chosen) == 0 {
		chosen = all
	}
	if len(systems) > 0 {
		for i, s := range chosen {
			chosen[i].Cases = nil
			for _, c := range s.Cases {
				if systems[c.System] {
					chosen[i].Cases = append(chosen[i].Cases, c)
				}
			}
		}
	}
	return chosen, nil
}

// alternate runs every case of s once, then all of them again, so that what else the machine does falls on all.
func alternate(ctx context.Context, o options, s scenario.Scenario) (map[string][]scenario.Figures, error) {
	size := s.Full
	if o.quick {
		size = s.Quick
	}
	results := map[string][]scenario.Figures{}
	for run := range o.runs {
		for _, c := range s.Cases {
			figures, err := measureApart(ctx, o.dsn, s.Name, c.Label, size)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Label, err)
			}
			fmt.Fprintf(os.Stderr, "%s %d/%d, %s: %s\n", s.Name, run+1, o.runs, c.Label, figures)
			results[c.Label] = append(results[c.Label], figures)
		}
	}
	return results, nil
}
