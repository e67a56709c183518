package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/internal/pgserver"
)

// fault is one thing that goes wrong.
type fault struct {
	what string // kill, freeze, point:NAME, database
	who  *process
}

// faultPlan draws n faults: each named point seven times (at the end of the run some may be left), the
// database twice, the rest kills and freezes of any process.
func faultPlan(rnd *rand.Rand, ps []*process, points []string, n int) []fault {
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
		at := i * len(plan) / 3
		plan = append(plan[:at], append([]fault{{what: "database"}}, plan[at:]...)...)
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

// inflict works the plan off, one fault about every gap, and returns how many were done by kind.
func inflict(ctx context.Context, rnd *rand.Rand, plan []fault, gap time.Duration, freeze time.Duration, db *pgserver.Server, w *witness) (map[string]int, error) {
	done := map[string]int{}
	var thawing sync.WaitGroup
	defer thawing.Wait()
	for i, f := range plan {
		wait := time.Duration((0.5 + rnd.Float64()) * float64(gap))
		select {
		case <-ctx.Done():
			return done, ctx.Err()
		case <-time.After(wait):
		}
		done[f.what]++
		switch {
		case f.what == "database":
			w.say("database", "stop")
			if err := db.Stop(pgserver.Immediate); err != nil {
				return done, err
			}
			time.Sleep(time.Second)
			if err := db.Start(ctx); err != nil {
				return done, err
			}
			w.say("database", "start")
		case f.what == "kill":
			f.who.kill()
		case f.what == "freeze":
			thawing.Go(func() { f.who.freeze(ctx, freeze) })
		default:
			passes := 1 + rnd.IntN(20)
			f.who.arm(fmt.Sprintf("%s:%d", strings.TrimPrefix(f.what, "point:"), passes))
		}
		if (i+1)%10 == 0 {
			fmt.Printf("%d of %d faults\n", i+1, len(plan))
		}
	}
	return done, nil
}
