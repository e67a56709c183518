package cloudruntest

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/internal/counttest"
)

var countsFile = flag.String("counts", "", "file to keep what was counted in, ../../infra/cost/counts.json")

// countedDatabase is a database behind a proxy that counts what is asked of it.
func countedDatabase(t *testing.T) (setting string, store *postgres.Store, proxy *counttest.Database) {
	t.Helper()
	const name = "BELFRY_DATABASE_URL="
	setting, store = database(t)
	proxy = counttest.NewDatabase(t, strings.TrimPrefix(setting, name))
	return name + proxy.URL, store, proxy
}

func keep(t *testing.T, run string, counts counttest.Counts) {
	t.Helper()
	text, _ := json.Marshal(counts)
	t.Logf("%s: %s", run, text)
	if *countsFile == "" {
		return
	}
	if err := counttest.Keep(*countsFile, run, counts); err != nil {
		t.Error(err)
	}
}

// TestCostIdle counts what eleven minutes cost in which nothing is due.
func TestCostIdle(t *testing.T) {
	if os.Getenv("BELFRY_TEST_LARGE") == "" {
		t.Skip("takes twelve minutes; BELFRY_TEST_LARGE=1 runs it")
	}
	const minutes = 11 // of which one has a whole pass, where passes are rare
	for mode, env := range map[string][]string{"idle": {"BELFRY_TICK_IDLE=1m"}, "rest": {"BELFRY_TICK_IDLE=1m", "BELFRY_TICK_SLEEP=10m"}, "loop": nil, "economy": {"BELFRY_ECONOMY=true"}} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			setting, _, proxy := countedDatabase(t)
			issuer := NewIssuer(t)
			p := newPushes(t, issuer)
			settings := slices.Concat(callerSettings(issuer.Serve(t)), []string{setting}, env, p.settings)
			containers := []*function{start(t, "tick", settings...)}
			if env == nil { // calls overlap
				containers = append(containers, start(t, "tick", settings...))
			}
			var running sync.WaitGroup
			var took atomic.Int64
			counts := counttest.Counts{"minutes": minutes, "tick.calls": minutes}
			every := time.NewTicker(time.Minute)
			defer every.Stop()
			for n := range minutes + 1 { // even minutes and odd ones are two scheduler jobs
				if n == 1 { // the first call starts the program and may do an hour's upkeep: it is not counted
					proxy.Begin(t)
					for _, f := range containers {
						counts["log.bytes"] -= float64(len(f.log.String()))
					}
				}
				running.Go(func() {
					began := time.Now()
					if status, err := containers[n%len(containers)].post(t.Context(), "/tick", issuer.Token(t, nil), nil); err != nil || status != 204 {
						t.Errorf("the tick answers %d, %v", status, err)
					}
					if n > 0 {
						took.Add(int64(time.Since(began)))
					}
				})
				<-every.C
			}
			running.Wait()
			counts["tick.seconds"] = time.Duration(took.Load()).Seconds()
			proxy.Count(t, counts)
			for _, f := range containers {
				counts["log.bytes"] += float64(len(f.log.String()))
			}
			keep(t, "gcp idle "+mode, counts)
			if p.most() > 0 {
				t.Error("messages were published with nothing due")
			}
		})
	}
}

// TestCostJobs counts what jobs cost from the request to the end, submitted a hundred at a time.
func TestCostJobs(t *testing.T) {
	jobs := 500
	if os.Getenv("BELFRY_TEST_LARGE") != "" {
		jobs = 5_000
	}
	setting, store, proxy := countedDatabase(t)
	issuer := NewIssuer(t)
	p := newPushes(t, issuer)
	settings := slices.Concat(callerSettings(issuer.Serve(t)), []string{setting, "BELFRY_TOKENS=" + apiToken, "BELFRY_TICK_TIME=10m"}, p.settings)
	worker, tick, api := start(t, "worker", settings...), start(t, "tick", settings...), start(t, "api", settings...)
	p.to(worker)
	over := make(chan struct{})
	go func() { defer close(over); _, _ = tick.post(t.Context(), "/tick", issuer.Token(t, nil), nil) }()
	proxy.Begin(t)
	counts := counttest.Counts{"jobs": float64(jobs)}
	for n := 0; n < jobs; n += 100 {
		began := time.Now()
		status, answer := ask(t, api, "POST", "/v1/jobs/batch", apiToken, `{"jobs":[`+strings.TrimSuffix(strings.Repeat(`{"type":"echo"},`, 100), ",")+`]}`)
		if status != 200 {
			t.Fatalf("submit: %d %s", status, answer)
		}
		counts["api.requests"]++
		counts["api.seconds"] += time.Since(began).Seconds()
	}
	await(t, "all jobs are done", func() bool { return unfinished(t, store) == 0 })
	tick.terminate(t)
	<-over
	proxy.Count(t, counts)
	p.mu.Lock()
	for _, n := range p.answers {
		counts["pushes"] += float64(n)
	}
	counts["push.seconds"] = p.took.Seconds()
	p.mu.Unlock()
	counts["log.api.bytes"], counts["log.worker.bytes"] = float64(len(api.log.String())), float64(len(worker.log.String()))
	keep(t, "gcp jobs", counts)
	if counts["pushes"] > float64(jobs)*1.5 {
		t.Errorf("%v pushes for %d jobs", counts["pushes"], jobs)
	}
}

// unfinished is how many jobs have not ended.
func unfinished(t *testing.T, store *postgres.Store) (n int) {
	t.Helper()
	stats, err := store.Stats(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range stats.Queues {
		n += q.Scheduled + q.Queued + q.Running
	}
	return n
}
