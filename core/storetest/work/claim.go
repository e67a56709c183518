package work

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func claimScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "ClaimDue/makes a due job running under a lease", Run: claimRuns},
		{Name: "ClaimDue/two claims never take one job", Run: claimRace},
		{Name: "ClaimDue/takes the earliest first and no more than the limit", Run: claimOrder},
		{Name: "ClaimDue/keeps every quota apart", Run: claimQuotas},
		{Name: "ClaimDue/a limit of zero and no quota take nothing", Run: claimZero},
		{Name: "ClaimDue/skips what lies at or before the mark", Run: claimMark},
		{Name: "ClaimDue/says when the next job is due", Run: claimDueIn},
		{Name: "ClaimDue/ends expired jobs instead of returning them", Run: claimExpired},
		{Name: "ClaimDue/fails jobs whose attempts are used up and goes on with the others", Run: claimUsedUp},
		{Name: "ClaimDue/a job with no attempt left fails with an error that says so", Run: claimSaysNoAttemptLeft},
		{Name: "ClaimDue/skips a row that another transaction locks", Run: claimHeld},
		{Name: "ClaimDue/a late commit with a past run_at is taken by the next full-range claim", Run: claimLateCommit},
		{Name: "ClaimDue/a job moved away is never claimed early", Run: claimMoved},
		{Name: "ClaimDue/jobs due much later are not read", Run: claimFuture},
	}
}

func claimRuns(s *storetest.Stage) {
	before := s.Get(s.SubmitOne(core.NewJob{Type: "a", Tenant: "t", Priority: core.Bulk, MaxAttempts: 3}))
	req := s.ClaimRequest(core.Quota{Priority: core.Bulk, Type: "a", Limit: 5})
	req.WorkerID = "w-7"
	began := s.Now()
	res, err := s.Store.ClaimDue(s.Ctx, req)
	s.Must(err)
	ended := s.Now()
	if len(res.Jobs) != 1 || res.Taken[0].N != 1 || res.Now.Before(began.Add(-time.Microsecond)) || res.Now.After(ended) {
		s.Fatalf("want one job at the store's now, got %+v", res)
	}
	for where, got := range map[string]core.Job{"answer": res.Jobs[0], "row": s.Get(before.ID)} {
		if got.Status != core.Running || got.Attempts != 1 || got.LeaseToken != before.LeaseToken+1 || got.WorkerID != "w-7" || got.ClaimID != req.ClaimID || got.EndedToken != before.EndedToken {
			s.Errorf("%s: want it running, attempt 1, token %d, by w-7: %+v", where, before.LeaseToken+1, got)
		}
		if until := res.Now.Add(storetest.Lease); got.LeaseUntil.Sub(until).Abs() > time.Second || got.StartedAt.Sub(res.Now).Abs() > time.Second {
			s.Errorf("%s: lease until %s, want %s; started %s, want %s", where, got.LeaseUntil, until, got.StartedAt, res.Now)
		}
		if got.Tenant != "t" || got.MaxAttempts != 3 || !got.RunAt.Equal(before.RunAt) || string(got.Payload) != "{}" {
			s.Errorf("%s: the job itself changed: %+v", where, got)
		}
	}
}

func claimRace(s *storetest.Stage) {
	const jobs, claimers = 1500, 8
	want := s.SubmitMany(jobs, "a")
	other := s.Second()
	taken := make([][]core.Job, claimers)
	s.Times(claimers, func(i int) error {
		for empty := 0; empty < 2; {
			res, err := []core.Store{s.Store, other.Store}[i%2].ClaimDue(s.Ctx, s.ClaimRequest(storetest.Quota("a", 7+5*i)))
			if err != nil {
				return err
			}
			if taken[i] = append(taken[i], res.Jobs...); len(res.Jobs) == 0 {
				empty++
			}
		}
		return nil
	})
	taken = append(taken, s.Claim("a", jobs)) // a claim skips rows that another has just locked
	got := storetest.IdsOf(slices.Concat(taken...))
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.Fatalf("%d jobs were claimed %d times by %d claimers", jobs, len(got), claimers)
	}
}

func claimOrder(s *storetest.Stage) {
	base := s.Now().Add(-time.Hour).Truncate(time.Microsecond)
	jobs := make([]core.NewJob, 200)
	for i := range jobs {
		jobs[i] = core.NewJob{Type: "a", RunAt: base.Add(time.Duration(i*7919%200) * time.Second)}
	}
	s.Submit(jobs...)
	last := time.Time{}
	for i, limit := range []int{1, 2, 50, 100, 100} {
		got := s.Claim("a", limit)
		for _, job := range got {
			if job.RunAt.Before(last) {
				s.Fatalf("run_at %s was claimed after %s", job.RunAt, last)
			}
			last = job.RunAt
		}
		if want := []int{1, 2, 50, 100, 47}[i]; len(got) != want {
			s.Fatalf("a limit of %d took %d, want %d", limit, len(got), want)
		}
	}
	if !last.Equal(base.Add(199 * time.Second)) {
		s.Fatalf("the last job claimed was due %s, want %s", last, base.Add(199*time.Second))
	}
}

func claimQuotas(s *storetest.Stage) {
	var jobs []core.NewJob
	for _, p := range core.Priorities {
		for _, typ := range []string{"a", "b", "c"} {
			for range 20 {
				jobs = append(jobs, core.NewJob{Type: typ, Priority: p})
			}
		}
	}
	s.Submit(jobs...)
	quotas := []core.Quota{{Priority: core.Bulk, Type: "a", Limit: 3}, {Priority: core.Critical, Type: "b", Limit: 50}, {Priority: core.Default, Type: "none", Limit: 5}, {Priority: core.Default, Type: "c", Limit: 20}}
	res := s.ClaimDue(quotas...)
	count := map[string]int{}
	for _, job := range res.Jobs {
		count[fmt.Sprint(job.Priority, job.Type)]++
	}
	for i, want := range []int{3, 20, 0, 20} {
		if key := fmt.Sprint(quotas[i].Priority, quotas[i].Type); count[key] != want || res.Taken[i].N != want {
			s.Errorf("quota %d: %d claimed, answered %d, want %d", i, count[key], res.Taken[i].N, want)
		}
	}
	if len(res.Jobs) != 43 {
		s.Errorf("%d jobs were claimed, want 43", len(res.Jobs))
	}
}

func claimZero(s *storetest.Stage) {
	s.SubmitMany(3, "a")
	if res := s.ClaimDue(storetest.Quota("a", 0)); len(res.Jobs) != 0 || res.Taken[0].N != 0 {
		s.Errorf("a limit of zero took %d", len(res.Jobs))
	}
	if res := s.ClaimDue(); len(res.Jobs) != 0 {
		s.Errorf("no quota took %d", len(res.Jobs))
	}
	if got := s.Claim("a", 5); len(got) != 3 {
		s.Errorf("then %d of 3 were claimed", len(got))
	}
}

func claimMark(s *storetest.Stage) {
	base := s.Now().Add(-time.Hour).Truncate(time.Microsecond)
	var jobs []core.NewJob
	for i := range 12 { // three jobs share each run_at, so the id decides
		jobs = append(jobs, core.NewJob{Type: "a", RunAt: base.Add(time.Duration(i/3) * time.Second)})
	}
	s.Submit(jobs...)
	rows := s.List(core.ListQuery{Type: "a", Limit: 100})
	slices.SortFunc(rows, func(a, b core.Job) int { return cmp.Or(a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID)) })
	q := storetest.Quota("a", 4)
	q.After = core.Mark{RunAt: rows[3].RunAt, ID: rows[3].ID}
	res := s.ClaimDue(q)
	if !slices.Equal(storetest.IdsOf(res.Jobs), storetest.IdsOf(rows[4:8])) || res.Taken[0].Last.ID != rows[7].ID || !res.Taken[0].Last.RunAt.Equal(rows[7].RunAt) || res.Taken[0].Tenants {
		s.Fatalf("after %v want %v and a mark at the last, got %v, %+v", q.After, storetest.IdsOf(rows[4:8]), storetest.IdsOf(res.Jobs), res.Taken[0])
	}
	q.After = res.Taken[0].Last
	q.Limit = 100
	if res = s.ClaimDue(q); !slices.Equal(storetest.IdsOf(res.Jobs), storetest.IdsOf(rows[8:])) {
		s.Fatalf("after the last mark want %v, got %v", storetest.IdsOf(rows[8:]), storetest.IdsOf(res.Jobs))
	}
	q.After = core.Mark{}
	if res = s.ClaimDue(q); !slices.Equal(storetest.IdsOf(res.Jobs), storetest.IdsOf(rows[:4])) {
		s.Fatalf("a full range has %v left, got %v", storetest.IdsOf(rows[:4]), storetest.IdsOf(res.Jobs))
	}
	s.Submit(core.NewJob{Type: "a", Tenant: "t"})
	if res = s.ClaimDue(q); len(res.Jobs) != 1 || !res.Taken[0].Tenants {
		s.Fatalf("the answer does not say that a row with a tenant was taken: %+v", res.Taken[0])
	}
}

func claimDueIn(s *storetest.Stage) {
	within := func(what string, got, want time.Duration) {
		s.Helper()
		if got > want || got < want-storetest.Patience {
			s.Errorf("%s: the next is due in %s, want %s", what, got, want)
		}
	}
	within("an empty lane", s.ClaimDue(storetest.Quota("a", 5)).DueIn, time.Hour)
	s.Submit(core.NewJob{Type: "a", Delay: 3 * time.Hour}, core.NewJob{Type: "other", Delay: 10 * time.Minute}, core.NewJob{Type: "a", Priority: core.Bulk, Delay: 5 * time.Minute})
	within("a job three hours ahead", s.ClaimDue(storetest.Quota("a", 5)).DueIn, time.Hour)
	s.Submit(core.NewJob{Type: "a", Delay: 30 * time.Minute}, core.NewJob{Type: "a", Delay: 20 * time.Minute}, core.NewJob{Type: "a"}, core.NewJob{Type: "a"})
	if got := s.ClaimDue(storetest.Quota("a", 2)).DueIn; got != 0 {
		s.Errorf("the limit was reached, yet the next is due in %s", got)
	}
	within("a job 20 minutes ahead", s.ClaimDue(storetest.Quota("a", 5)).DueIn, 20*time.Minute)
	within("two lanes", s.ClaimDue(storetest.Quota("a", 5), storetest.Quota("other", 5)).DueIn, 10*time.Minute)
}

func claimExpired(s *storetest.Stage) {
	now := s.Now()
	var expired, good []int64
	for i := range 30 {
		job := core.NewJob{Type: "a", RunAt: now.Add(time.Duration(i) * time.Second), ExpiresAt: now.Add(2 * time.Hour)}
		if i%3 == 0 {
			job.ExpiresAt = now.Add(time.Hour)
		}
		if id := s.SubmitOne(job); i%3 == 0 {
			expired = append(expired, id)
		} else {
			good = append(good, id)
		}
	}
	s.Advance(time.Hour + time.Minute)
	res := s.ClaimDue(storetest.Quota("a", 100))
	if got := storetest.IdsOf(res.Jobs); !slices.Equal(got, good) || res.Taken[0].N != 30 {
		s.Errorf("want %v claimed and 30 counted, got %v, %d", good, got, res.Taken[0].N)
	}
	for _, id := range expired {
		if got := s.Get(id); got.Status != core.Cancelled || got.Reason != "expired" || got.Attempts != 0 || got.FinishedAt.IsZero() || !got.StartedAt.IsZero() {
			s.Errorf("want job %d cancelled as expired, got %+v", id, got)
		}
	}
	s.SubmitMany(1, "a")
	if jobs := s.Claim("a", 100); len(jobs) != 1 {
		s.Errorf("then %d of 1 job was claimed", len(jobs))
	}
}

func claimUsedUp(s *storetest.Stage) {
	ids := s.SubmitMany(20, "a")
	var bad []int64
	for i, id := range ids[:6] {
		if s.DB.Damage(s.T, []storetest.Damage{storetest.AttemptsAtMax, storetest.AttemptsAboveMax}[i%2], id) {
			bad = append(bad, id)
		}
	}
	if len(bad) == 0 {
		s.Skip("this schema keeps attempts below max_attempts")
	}
	want := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return slices.Contains(bad, id) })
	res := s.ClaimDue(storetest.Quota("a", 100))
	got := storetest.IdsOf(res.Jobs)
	if slices.Sort(got); !slices.Equal(got, want) || res.Taken[0].N != len(ids) {
		s.Errorf("want %v claimed and %d counted, got %v, %d", want, len(ids), got, res.Taken[0].N)
	}
	for _, id := range bad {
		if got := s.Get(id); got.Status != core.Failed || got.FinishedAt.IsZero() || !got.StartedAt.IsZero() {
			s.Errorf("want job %d failed without a run, got %+v", id, got)
		}
		saysNoAttemptLeft(s, id, 0)
	}
	n, err := s.Store.CountDead(s.Ctx, core.DeadQuery{Type: "a"})
	if s.Must(err); n != len(bad) {
		s.Errorf("%d dead letters, want %d", n, len(bad))
	}
}

// saysNoAttemptLeft checks that a dead letter's last error says that no attempt was left, and that the earlier errors
// remain.
func saysNoAttemptLeft(s *storetest.Stage, id int64, before int) {
	s.Helper()
	got := s.Get(id)
	want := core.NoAttemptLeft(got.Attempts, got.MaxAttempts, got.FinishedAt)
	if n := len(got.Errors); n != min(before+1, core.MaxErrors) || got.Errors[n-1].Error != want.Error || got.Errors[n-1].Kind != want.Kind ||
		got.Errors[n-1].Attempt != want.Attempt || got.Errors[n-1].At.Sub(want.At).Abs() > time.Second {
		s.Errorf("after %d errors of its own the job has %+v, want %+v behind them", before, got.Errors, want)
	}
	if groups := s.Groups(core.DeadQuery{IDs: []int64{id}}, 1); len(groups) != 1 || groups[0].Group != core.ErrorGroup(got.Type, got.Errors) {
		s.Errorf("its group is %+v, want %s", groups, core.ErrorGroup(got.Type, got.Errors))
	}
}

// claimSaysNoAttemptLeft: the row gets this error for every kind of history.
func claimSaysNoAttemptLeft(s *storetest.Stage) {
	for _, before := range []int{1, core.MaxErrors - 1, core.MaxErrors} {
		typ := s.NewType()
		job := s.Put(core.Running, core.NewJob{Type: typ})
		history := make([]core.AttemptError, before)
		for i := range history {
			history[i] = core.AttemptError{Attempt: 1, At: s.Now(), Error: fmt.Sprint("no ", i), Kind: core.KindError}
		}
		s.FinishAs(core.Scheduled, core.End{Ref: storetest.RefOf(job), Outcome: core.EndRetry, Errors: history})
		if !s.DB.Damage(s.T, storetest.AttemptsAtMax, job.ID) {
			s.Skip("this schema keeps attempts below max_attempts")
		}
		s.Claim(typ, 1)
		saysNoAttemptLeft(s, job.ID, before)
		if got := s.Get(job.ID).Errors; len(got) > 1 && got[len(got)-2].Error != history[before-1].Error {
			s.Errorf("the error before it is %+v, want the job's own newest error", got[len(got)-2])
		}
	}
	for _, what := range []storetest.Damage{storetest.ErrorsObject, storetest.ErrorsMissing} {
		id := s.SubmitOne(core.NewJob{Type: s.NewType()})
		if s.DB.Damage(s.T, what, id) && s.DB.Damage(s.T, storetest.AttemptsAtMax, id) {
			s.Claim(s.Get(id).Type, 1)
			saysNoAttemptLeft(s, id, 0)
		}
	}
}

func claimHeld(s *storetest.Stage) {
	ids := s.SubmitMany(10, "a")
	release := s.Hold(storetest.Hold{Kind: storetest.HoldRow, ID: ids[0]})
	if got := storetest.IdsOf(s.Claim("a", 100)); !slices.Equal(got, ids[1:]) {
		s.Errorf("want %v, got %v", ids[1:], got)
	}
	release(false)
	if got := storetest.IdsOf(s.Claim("a", 100)); !slices.Equal(got, ids[:1]) {
		s.Errorf("after the release want %v, got %v", ids[:1], got)
	}
}

func claimLateCommit(s *storetest.Stage) {
	past := s.Now().Add(-time.Minute)
	release := s.Hold(storetest.Hold{Kind: storetest.HoldJob, Type: "a", RunAt: past})
	s.SubmitMany(20, "a")
	q := storetest.Quota("a", 50)
	res := s.ClaimDue(q)
	if len(res.Jobs) != 20 {
		s.Fatalf("%d of 20 jobs were claimed while another job was uncommitted", len(res.Jobs))
	}
	release(true)
	q.After = res.Taken[0].Last
	if res = s.ClaimDue(q); len(res.Jobs) != 0 {
		s.Fatal("a job before the mark was claimed")
	}
	q.After = core.Mark{}
	if res = s.ClaimDue(q); len(res.Jobs) != 1 || !res.Jobs[0].RunAt.Equal(past.Truncate(time.Microsecond)) {
		s.Fatalf("want the late job claimed by a full range, got %v", storetest.IdsOf(res.Jobs))
	}
}

func claimMoved(s *storetest.Stage) {
	ids := s.SubmitMany(200, "a")
	moved := make(map[int64]bool, len(ids))
	claimed := map[int64]bool{}
	s.Together(func() error {
		for _, id := range slices.Backward(ids) { // so that it meets the claims in the middle
			_, err := s.Store.Reschedule(s.Ctx, id, core.When{Delay: time.Hour})
			if err == nil {
				moved[id] = true
			} else if !storetest.IsConflict(err, core.Running) {
				return err
			}
		}
		return nil
	}, func() error {
		for range 60 {
			res, err := s.Store.ClaimDue(s.Ctx, s.ClaimRequest(storetest.Quota("a", 3)))
			if err != nil {
				return err
			}
			for _, job := range res.Jobs {
				claimed[job.ID] = true
			}
		}
		return nil
	})
	for _, id := range ids {
		if got := s.Get(id); moved[id] && (claimed[id] || got.Status != core.Scheduled) || !moved[id] && !claimed[id] {
			s.Errorf("job %d: moved %t, claimed %t, now %s", id, moved[id], claimed[id], got.Status)
		}
	}
}

// claimFuture counts the rows that a claim reads if many jobs are due in the future.
func claimFuture(s *storetest.Stage) {
	n := map[bool]int{false: 5_000, true: 200_000}[s.H.Large]
	batch := make([]core.NewJob, 5_000)
	for i := range batch {
		batch[i] = core.NewJob{Type: "a", Delay: 24*time.Hour + time.Duration(i)*time.Second}
	}
	for range n / len(batch) {
		s.Submit(batch...)
	}
	ids := s.SubmitMany(10, "a")
	read := RowsRead(s, func() {
		if got := storetest.IdsOf(s.Claim("a", 100)); !slices.Equal(got, ids) {
			s.Errorf("want %v, got %v", ids, got)
		}
	})
	if read > 1000 {
		s.Errorf("a claim of 10 jobs with %d jobs due later read %d rows", n, read)
	}
}

// RowsRead counts the live rows that act reads, or returns 0 if the database cannot count them.
func RowsRead(s *storetest.Stage, act func()) int64 {
	s.Helper()
	reader, ok := s.DB.(storetest.RowReader)
	if !ok {
		act()
		return 0
	}
	before := reader.RowsRead(s.T)
	act()
	return reader.RowsRead(s.T) - before
}
