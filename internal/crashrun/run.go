package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/pgserver"
	"github.com/belfry-dev/belfry/internal/queues"
)

// stage is what a run plays on.
type stage struct {
	settings settings
	layout
	dsn     string
	db      *pgserver.Server
	queue   *queues.Installation // nil: none of its own
	witness *witness
	ps      []*process
	load    *load
	trouble *trouble
	close   []func() error // last first

	queueFault sync.Mutex // held while the queue's server is being restarted
}

// crash runs one layout from an empty database to its verdict, and returns what its jobs waited.
func crash(ctx context.Context, which string, s settings) (waited *lags, err error) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	l, err := findLayout(which)
	if err != nil {
		return nil, err
	}
	if s.jobs == 0 {
		s.jobs = l.jobs
	}
	fmt.Printf("layout %s (%s), trouble %t, %d jobs, seed %d: lease %s, heartbeat %s, bucket lease %s, back-off 200ms then 1s, freeze %s\n",
		which, l.says, s.trouble, s.jobs, s.seed, time.Duration(lease), time.Duration(heartbeat), time.Duration(bucketLease), time.Duration(freezeFor))
	st := &stage{settings: s, layout: l}
	defer func() { err = errors.Join(err, st.clear()) }()
	path, err := st.build(ctx)
	if err != nil {
		return nil, err
	}
	done, rows, err := st.run(ctx)
	if err != nil {
		return nil, err
	}
	events, err := readWitness(path)
	if err != nil {
		return nil, err
	}
	v := check(events, rows, st.load.jobs, st.trouble)
	if st.queue != nil {
		if v.left, v.dead, err = st.queue.Left(ctx); err != nil {
			return nil, err
		}
	}
	waited = lagsOf(events, st.load)
	fmt.Println(waited)
	return waited, st.report(v, done, len(rows), time.Since(start))
}

// build starts the servers and makes the processes, which are not started yet. It returns the path of the witness file.
func (st *stage) build(ctx context.Context) (path string, err error) {
	dir := st.settings.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "belfry-crash-"); err != nil {
			return "", err
		}
		st.close = append(st.close, func() error { return os.RemoveAll(dir) })
	}
	path = filepath.Join(dir, "witness-"+st.name+".log")
	_ = os.Remove(path)
	if st.witness, err = openWitness(path); err != nil {
		return "", err
	}
	logs, err := os.Create(filepath.Join(dir, "nodes-"+st.name+".log"))
	if err != nil {
		return "", err
	}
	st.close = append(st.close, logs.Close)
	if st.db, err = pgserver.Start(ctx, pgserver.Options{Durable: true}); err != nil {
		return "", err
	}
	st.close = append(st.close, st.db.Close)
	if st.dsn, err = pgserver.CreateDatabase(ctx, st.db.URL()); err != nil {
		return "", err
	}
	env := st.env
	if st.kind != "" {
		if st.queue, err = queues.Install(ctx, st.kind); err != nil {
			return "", err
		}
		st.close = append(st.close, st.queue.Server.Close)
		env = append(env, st.queue.Environment()...)
	}
	addr, err := freeAddr()
	if err != nil {
		return "", err
	}
	for _, n := range st.nodes {
		args := []string{"-dsn", st.dsn, "-witness", path, "-addr", addr, "-types", st.types(n.name, st.settings.trouble)}
		st.ps = append(st.ps, &process{name: n.name, role: n.role, args: args, env: env, w: st.witness, log: logs})
	}
	st.load = newLoad("http://"+addr, st.witness, st.settings.span)
	st.trouble = &trouble{dsn: st.dsn, load: st.load}
	return path, postgres.Migrate(ctx, st.dsn)
}

func (st *stage) clear() (err error) {
	for i := len(st.close) - 1; i >= 0; i-- {
		err = errors.Join(err, st.close[i]())
	}
	return err
}

// run starts the processes, lets load and faults loose on them, and returns the final rows.
func (st *stage) run(ctx context.Context) (map[string]int, []core.Job, error) {
	store, err := postgres.Open(ctx, st.dsn, postgres.Options{})
	if err != nil {
		return nil, nil, err
	}
	defer store.Close()
	if err := st.trouble.prepare(ctx, store, st.settings.trouble); err != nil {
		return nil, nil, err
	}
	alive, kill := context.WithCancel(ctx)
	defer kill()
	var children sync.WaitGroup
	errs := make(chan error, len(st.ps))
	for _, p := range st.ps {
		children.Go(func() { errs <- p.keep(alive) })
	}
	rnd := rand.New(rand.NewPCG(st.settings.seed, uint64(len(st.ps))))
	var loading sync.WaitGroup
	loading.Go(func() { st.load.run(ctx, st.settings.seed, st.settings.jobs) })
	plan := faultPlan(rnd, st.ps, st.points, st.settings.faults, st.queue != nil && st.queue.Durable)
	troubling, calm := context.WithCancel(ctx)
	defer calm()
	troubled := make(chan error, 1)
	go func() {
		if st.settings.trouble {
			wait(troubling, st.settings.span/10)
			troubled <- st.trouble.inflict(troubling)
		} else {
			troubled <- nil
		}
	}()
	done, err := st.inflict(ctx, rnd, plan, st.settings.span/time.Duration(len(plan)))
	if err != nil {
		return done, nil, err
	}
	loading.Wait()
	calm()
	if err := <-troubled; err != nil {
		return done, nil, err
	}
	if err := st.trouble.end(ctx); err != nil {
		return done, nil, err
	}
	rows, err := st.settle(ctx, store)
	kill()
	children.Wait()
	for range st.ps {
		if e := <-errs; e != nil && err == nil {
			err = e
		}
	}
	return done, rows, err
}

// settle waits until nothing lives any more, as long as jobs go on to end, and reads all rows.
func (st *stage) settle(ctx context.Context, store core.Store) ([]core.Job, error) {
	few, since := math.MaxInt, time.Now()
	for few > 0 {
		n, err := st.trouble.live(ctx)
		switch {
		case err == nil && n < few:
			few, since = n, time.Now()
		case ctx.Err() != nil || time.Since(since) > st.settings.stuck:
			live, _ := store.List(ctx, core.ListQuery{Statuses: []core.Status{core.Scheduled, core.Queued, core.Running}, Limit: 3})
			stuck := fmt.Errorf("%d jobs still live at the end, none has ended in %s, such as %+v", n, time.Since(since), live.Jobs)
			return nil, errors.Join(stuck, ctx.Err(), err)
		}
		wait(ctx, 250*time.Millisecond)
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

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
