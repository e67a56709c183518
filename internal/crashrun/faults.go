package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-dev/belfry/internal/pgserver"
)

// fault is one thing that goes wrong.
type fault struct {
	what string // kill, freeze, point:NAME, database, queue
	who  *process
}

// faultPlan draws n faults: each named point seven times (at the end of the run some may be left), the rest kills and
// freezes of any process. Besides the database is restarted twice, and so is the queue's server where messages outlive it.
func faultPlan(rnd *rand.Rand, ps []*process, points []string, n int, queue bool) []fault {
	var plan []fault
	for _, name := range points {
		for range 7 {
			plan = append(plan, fault{"point:" + name, pick(rnd, ps, name)})
		}
	}
	for len(plan) < n {
		who := ps[rnd.IntN(len(ps))]
		what := "kill"
		if who.role != "api" && rnd.IntN(3) == 0 {
			what = "freeze"
		}
		plan = append(plan, fault{what, who})
	}
	rnd.Shuffle(len(plan), func(i, j int) { plan[i], plan[j] = plan[j], plan[i] })
	for i := 1; i <= 2; i++ {
		plan = slices.Insert(plan, i*len(plan)/3, fault{what: "database"})
	}
	if queue {
		for i := 1; i <= 3; i++ {
			plan = slices.Insert(plan, i*len(plan)/4, fault{what: "queue"})
		}
	}
	return plan
}

// pick chooses a process whose role passes the point.
func pick(rnd *rand.Rand, ps []*process, point string) *process {
	role := map[string]string{atPublish: "tick", atFinish: "worker", atReply: "api"}[point]
	var fit []*process
	for _, p := range ps {
		if strings.Contains(p.role, role) {
			fit = append(fit, p)
		}
	}
	return fit[rnd.IntN(len(fit))]
}

// inflict works the plan off, one fault about every gap, and returns how many were done by kind. Freezes and restarts of
// the queue's server go on beside what follows.
func (st *stage) inflict(ctx context.Context, rnd *rand.Rand, plan []fault, gap time.Duration) (map[string]int, error) {
	done := map[string]int{}
	beside, ctx := errgroup.WithContext(ctx)
	for i, f := range plan {
		wait := time.Duration((0.5 + rnd.Float64()) * float64(gap))
		select {
		case <-ctx.Done():
			return done, cmp.Or(beside.Wait(), ctx.Err())
		case <-time.After(wait):
		}
		done[f.what]++
		switch {
		case f.what == "database":
			if err := st.restart(ctx, f.what, func() error { return st.db.Stop(pgserver.Immediate) }, st.db.Start); err != nil {
				return done, errors.Join(err, beside.Wait())
			}
		case f.what == "queue":
			beside.Go(func() error {
				st.queueFault.Lock() // one may take longer than the next is away
				defer st.queueFault.Unlock()
				return st.restart(ctx, f.what, st.queue.Server.Kill, st.queue.Server.Start)
			})
		case f.what == "kill":
			f.who.kill()
		case f.what == "freeze":
			beside.Go(func() error { f.who.freeze(ctx, freezeFor); return nil })
		default:
			passes := 1 + rnd.IntN(20)
			f.who.arm(fmt.Sprintf("%s:%d", strings.TrimPrefix(f.what, "point:"), passes))
		}
		if (i+1)%10 == 0 {
			fmt.Printf("%d of %d faults\n", i+1, len(plan))
		}
	}
	return done, beside.Wait()
}

// restart ends a server without warning and starts it again a second later.
func (st *stage) restart(ctx context.Context, what string, stop func() error, start func(context.Context) error) error {
	st.witness.say(what, "stop")
	if err := stop(); err != nil {
		return err
	}
	time.Sleep(time.Second)
	if err := start(ctx); err != nil {
		return err
	}
	st.witness.say(what, "start")
	return nil
}
