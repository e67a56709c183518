package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/pgserver"
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
	seed   uint64
	jobs   int
	faults int
	span   time.Duration // over which jobs are submitted and faults happen
	keep   string        // directory for witness and logs; "" means a temporary one
}

func drive() error {
	var s settings
	which := flag.String("layout", "both", "a: separate roles, direct; b: tick and worker together over mem topics; both")
	flag.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()), "seed of load and faults")
	flag.IntVar(&s.jobs, "n", 20_000, "jobs accepted")
	flag.IntVar(&s.faults, "faults", 62, "faults, besides the database's two")
	flag.DurationVar(&s.span, "span", 110*time.Second, "time over which jobs and faults are spread")
	flag.StringVar(&s.keep, "keep", "", "keep witness and logs in this directory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 6*time.Minute)
	defer cancel()
	layouts := []string{*which}
	if *which == "both" {
		layouts = []string{"a", "b"}
	}
	for _, l := range layouts {
		if err := crash(ctx, l, s); err != nil {
			return fmt.Errorf("layout %s, seed %d: %w", l, s.seed, err)
		}
	}
	return nil
}

// crash runs one layout from an empty database to its verdict.
func crash(ctx context.Context, which string, s settings) error {
	start := time.Now()
	fmt.Printf("layout %s, seed %d: lease %s, heartbeat %s, bucket lease %s, back-off 200ms then 1s, freeze %s\n",
		which, s.seed, time.Duration(lease), time.Duration(heartbeat), time.Duration(bucketLease), time.Duration(freezeFor))
	dir := s.keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "belfry-crash-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	path := filepath.Join(dir, "witness-"+which+".log")
	_ = os.Remove(path)
	w, err := openWitness(path)
	if err != nil {
		return err
	}
	logs, err := os.Create(filepath.Join(dir, "nodes-"+which+".log"))
	if err != nil {
		return err
	}
	defer logs.Close()
	db, err := pgserver.Start(ctx, pgserver.Options{Durable: true})
	if err != nil {
		return err
	}
	defer db.Close()
	dsn, err := pgserver.CreateDatabase(ctx, db.URL())
	if err != nil {
		return err
	}
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	ps, points, err := layout(which, dsn, addr, path, w, logs)
	if err != nil {
		return err
	}
	l := newLoad("http://"+addr, w, s.span)
	done, rows, err := run(ctx, ps, points, l, dsn, db, w, s)
	if err != nil {
		return err
	}
	events, err := readWitness(path)
	if err != nil {
		return err
	}
	return report(check(events, rows, l.jobs), done, points, len(rows), l, time.Since(start))
}

// run starts the processes, lets load and faults loose on them, and returns the final rows.
func run(ctx context.Context, ps []*process, points []string, l *load, dsn string, db *pgserver.Server, w *witness, s settings) (map[string]int, []core.Job, error) {
	if err := postgres.Migrate(ctx, dsn); err != nil {
		return nil, nil, err
	}
	store, err := postgres.Open(ctx, dsn, postgres.Options{})
	if err != nil {
		return nil, nil, err
	}
	defer store.Close()
	alive, kill := context.WithCancel(ctx)
	defer kill()
	var children sync.WaitGroup
	errs := make(chan error, len(ps))
	for _, p := range ps {
		children.Go(func() { errs <- p.keep(alive) })
	}
	rnd := rand.New(rand.NewPCG(s.seed, uint64(len(ps))))
	var loading sync.WaitGroup
	loading.Go(func() { l.run(ctx, s.seed, s.jobs) })
	plan := faultPlan(rnd, ps, points, s.faults)
	done, err := inflict(ctx, rnd, plan, s.span/time.Duration(len(plan)), freezeFor, db, w)
	if err != nil {
		return done, nil, err
	}
	loading.Wait()
	rows, err := settle(ctx, store, l)
	kill()
	children.Wait()
	for range ps {
		if e := <-errs; e != nil && err == nil {
			err = e
		}
	}
	return done, rows, err
}

// settle waits until nothing lives any more, and reads all rows.
func settle(ctx context.Context, store core.Store, l *load) ([]core.Job, error) {
	for {
		live, err := store.List(ctx, core.ListQuery{Statuses: []core.Status{core.Scheduled, core.Queued, core.Running}, Limit: 1})
		if err == nil && len(live.Jobs) == 0 && live.Next == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("jobs still live at the end: %w", ctx.Err())
		case <-time.After(250 * time.Millisecond):
		}
	}
	var rows []core.Job
	before := int64(0)
	for {
		page, err := store.List(ctx, core.ListQuery{Before: before, Limit: 1000})
		rows = append(rows, page.Jobs...)
		if err != nil || page.Next == 0 {
			return rows, err
		}
		before = page.Next
	}
}

// report prints the verdict; a broken invariant is an error.
func report(v *verdict, done map[string]int, points []string, rows int, l *load, took time.Duration) error {
	fmt.Printf("%d jobs accepted, %d rows (requests without an answer: %d), %d handler entries, %d dispatches, %d cancels, in %s\n",
		len(l.jobs), rows, l.lost.Load(), v.counts["enter"], v.counts["dispatch"], v.counts["cancels"], took.Round(time.Second))
	total := 0
	var kinds []string
	for _, k := range slices.Sorted(maps.Keys(done)) {
		total += done[k]
		kinds = append(kinds, fmt.Sprintf("%s %d", k, done[k]))
	}
	fmt.Printf("%d faults: %s; died at named points: %v\n", total, strings.Join(kinds, ", "), v.points)
	if v.worst > 0 {
		fmt.Printf("worst wait after a tick died between commit and publish: %s\n", v.worst.Round(time.Millisecond))
	}
	broken := 0
	for _, inv := range []string{"1", "2", "3", "4", "5", "6", "9", "10", "11"} {
		fs := v.faults[inv]
		broken += len(fs)
		if len(fs) == 0 {
			fmt.Printf("invariant %s holds\n", inv)
			continue
		}
		fmt.Printf("invariant %s BROKEN %d times:\n  %s\n", inv, len(fs), strings.Join(fs[:min(len(fs), 10)], "\n  "))
	}
	if v.counts["run_at compared"] < rows/4 {
		return fmt.Errorf("run_at could be compared for %d of %d jobs only", v.counts["run_at compared"], rows)
	}
	if broken > 0 {
		return fmt.Errorf("%d faults", broken)
	}
	for _, name := range points {
		if v.points[name] < 3 {
			return fmt.Errorf("named point %s was hit %d times only", name, v.points[name])
		}
	}
	return nil
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
