package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

func main() {
	err := error(nil)
	if len(os.Args) > 1 && os.Args[1] == "node" {
		err = runNode(os.Args[2:])
	} else {
		err = drive()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "crash run:", err)
		os.Exit(1)
	}
}

// settings of one run.
type settings struct {
	seed    uint64
	jobs    int // 0: as many as the layout's queue carries
	faults  int
	span    time.Duration // over which jobs are submitted and faults happen
	within  time.Duration // one layout is to be through
	stuck   time.Duration // the longest time, after the last fault, in which no job ends
	trouble bool          // poison, damaged rows, a held key, workers with different handlers
	keep    string        // directory for witness and logs; "" means a temporary one
}

func drive() error {
	var s settings
	which := flag.String("layout", "a,b,c", "with commas: a, separate roles, direct; b, tick and worker together over mem topics;\nseparate roles over c, RabbitMQ; d, SQS on moto; e, the Pub/Sub emulator")
	flag.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()), "seed of load and faults")
	flag.IntVar(&s.jobs, "n", 0, "jobs accepted; 0 means 20,000, or fewer where the layout's queue is slow")
	flag.IntVar(&s.faults, "faults", 62, "faults, besides the restarts of the database and of the queue")
	flag.DurationVar(&s.span, "span", 110*time.Second, "time over which jobs and faults are spread")
	flag.DurationVar(&s.within, "within", 30*time.Minute, "time that one layout may take")
	flag.DurationVar(&s.stuck, "stuck", 2*time.Minute, "time in which, after the last fault, at least one job must end")
	flag.BoolVar(&s.trouble, "trouble", true, "a poison job, a damaged row of each hot table, a held dedupe key and, over queues of their own, workers with different handlers")
	compared := flag.String("compare", "c", "layouts that are run without trouble first, so that lags can be compared")
	flag.StringVar(&s.keep, "keep", "", "keep witness and logs in this directory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for l := range strings.SplitSeq(*which, ",") {
		if err := runLayout(ctx, strings.TrimSpace(l), s, strings.Contains(*compared, strings.TrimSpace(l))); err != nil {
			return fmt.Errorf("layout %s, seed %d: %w", l, s.seed, err)
		}
	}
	return nil
}

// runLayout runs one layout and, where it is compared, first without trouble, with the same load and faults.
func runLayout(ctx context.Context, which string, s settings, compared bool) error {
	if !compared || !s.trouble {
		_, err := crash(ctx, which, s)
		return err
	}
	calm := s
	calm.trouble = false
	without, err := crash(ctx, which, calm)
	if err != nil {
		return err
	}
	with, err := crash(ctx, which, s)
	if err != nil {
		return err
	}
	return compare(without, with)
}
