package operate

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func deadGroupScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "DeadGroups/counts jobs with similar errors together, the largest group first", Run: deadGroups},
		{Name: "DeadGroups/every text falls into the group that core.ErrorGroup says", Run: deadGroupTexts},
		{Name: "DeadGroups/a dead letter with damaged errors has a group too", Run: deadGroupDamaged},
		{Name: "DeadGroups/a redriven or discarded dead letter leaves its group", Run: deadGroupLeft},
		{Name: "List/filters dead letters by group and by when they failed", Run: listDead},
	}
}

// failWith creates a dead letter with this last error.
func failWith(s *storetest.Stage, job core.NewJob, text string) core.Job {
	s.Helper()
	running := s.Put(core.Running, job)
	s.FinishAs(core.Failed, core.End{Ref: storetest.RefOf(running), Outcome: core.EndFail, Errors: storetest.OneError(running, text)})
	return s.Get(running.ID)
}

func deadGroups(s *storetest.Stage) {
	t := "t"
	if got := s.Groups(core.DeadQuery{}, 10); len(got) != 0 {
		s.Fatalf("groups of nothing: %+v", got)
	}
	var refused []core.Job
	for i := range 5 {
		refused = append(refused, failWith(s, core.NewJob{Type: "mail"}, fmt.Sprintf("dial 10.0.0.%d:25: refused", i)))
		s.Advance(time.Minute)
	}
	late := failWith(s, core.NewJob{Type: "mail"}, "too late by 17 ms")
	for range 2 {
		failWith(s, core.NewJob{Type: "bill", Tenant: t}, "dial 10.0.0.1:25: refused")
	}
	all := s.Groups(core.DeadQuery{}, 10)
	if len(all) != 3 || all[0].Count != 5 || all[1].Count != 2 || all[2].Count != 1 {
		s.Fatalf("want groups of 5, 2 and 1, got %+v", all)
	}
	want := core.DeadGroup{Type: "mail", Group: core.ErrorGroup("mail", refused[0].Errors), Error: "dial 10.0.0.4:25: refused", Count: 5, First: refused[0].FinishedAt, Last: refused[4].FinishedAt}
	if got := all[0]; got.Type != want.Type || got.Group != want.Group || got.Error != want.Error || !got.First.Equal(want.First) || !got.Last.Equal(want.Last) {
		s.Errorf("got %+v\nwant %+v", got, want)
	}
	if got := s.Groups(core.DeadQuery{}, 1); len(got) != 1 || got[0].Group != want.Group {
		s.Errorf("with a limit of 1: %+v", got)
	}
	for name, c := range map[string]struct {
		q      core.DeadQuery
		counts []int
	}{
		"type":         {core.DeadQuery{Type: "mail"}, []int{5, 1}},
		"tenant":       {core.DeadQuery{Tenant: &t}, []int{2}},
		"other":        {core.DeadQuery{Type: "none"}, nil},
		"group":        {core.DeadQuery{Group: want.Group}, []int{5}},
		"made up":      {core.DeadQuery{Group: "0123456789abcdef"}, nil},
		"ids":          {core.DeadQuery{IDs: []int64{refused[1].ID, refused[2].ID, late.ID}}, []int{2, 1}},
		"before":       {core.DeadQuery{Before: refused[3].FinishedAt}, []int{3}},
		"after":        {core.DeadQuery{After: refused[3].ID, Type: "mail"}, []int{1, 1}},
		"two of group": {core.DeadQuery{Group: want.Group, After: refused[2].ID}, []int{2}},
	} {
		var counts []int
		sum := 0
		for _, g := range s.Groups(c.q, 10) {
			counts, sum = append(counts, g.Count), sum+g.Count
		}
		if !slices.Equal(counts, c.counts) {
			s.Errorf("%s: groups of %v, want %v", name, counts, c.counts)
		}
		if n, err := s.Store.CountDead(s.Ctx, c.q); err != nil || n != sum {
			s.Errorf("%s: CountDead says %d, %v; the groups have %d", name, n, err, sum)
		}
	}
}

// deadGroupTexts: people remember groups, and compare them between stores.
func deadGroupTexts(s *storetest.Stage) {
	for _, text := range []string{
		"", "plain", "row 17 of 20", "x509: certificate of \"a b\" expired\n\tat 2026-11-29T18:30:00Z", "can't open 'the file'; didn't try",
		"order 0b54bd92-9d1c-4c5e-8f3a-1f6f6b8f2d11", "dial [2001:db8::1]:443 and [fe80::dead:beef]:1", "`a` `b` 0xDEADBEEF job_17-b/3 v1.2.3 u1@h2,3+4",
		"café naïve 日本 ① 🎉 42 \u00a0\u2028 x", "? ?.? ?/?", "'", "\"", "std::vector a:b:c ::", fmt.Sprintf("%0600d%0600d", 1, 2), "a\\\"b\\\" \\1 $1 ${1}",
	} {
		dead := failWith(s, core.NewJob{Type: "ty.pe"}, text)
		got := s.Groups(core.DeadQuery{IDs: []int64{dead.ID}}, 10)
		if want := core.ErrorGroup("ty.pe", dead.Errors); len(got) != 1 || got[0].Group != want || got[0].Error != text {
			s.Errorf("%q: got %+v, want the group %s", text, got, want)
		}
	}
}

func deadGroupDamaged(s *storetest.Stage) {
	for _, what := range []storetest.Damage{storetest.ErrorsObject, storetest.ErrorsNumbers, storetest.ErrorsMissing} {
		typ := s.NewType()
		id := s.SubmitOne(core.NewJob{Type: typ})
		if !s.DB.Damage(s.T, what, id) || !s.DB.Damage(s.T, storetest.AttemptsAtMax, id) {
			continue
		}
		s.Claim(typ, 1)
		if job := s.Get(id); job.Status != core.Failed {
			s.Fatalf("%s: want it failed, for it has no attempt left; it is %s", what, job.Status)
		}
		if got := s.Groups(core.DeadQuery{Type: typ}, 10); len(got) != 1 || got[0].Count != 1 || !regexp.MustCompile("^[0-9a-f]{16}$").MatchString(got[0].Group) {
			s.Errorf("%s: %+v", what, got)
		}
	}
}

func deadGroupLeft(s *storetest.Stage) {
	var dead []core.Job
	for range 4 {
		dead = append(dead, failWith(s, core.NewJob{Type: "a"}, "no"))
	}
	group := core.ErrorGroup("a", dead[0].Errors)
	count := func(want int) {
		s.Helper()
		n, err := s.Store.CountDead(s.Ctx, core.DeadQuery{Group: group})
		groups := s.Groups(core.DeadQuery{Group: group}, 10)
		if s.Must(err); n != want || want > 0 && (len(groups) != 1 || groups[0].Count != want) || want == 0 && len(groups) > 0 {
			s.Errorf("%d in the group, groups %+v; want %d", n, groups, want)
		}
	}
	count(4)
	_, err := s.Store.Redrive(s.Ctx, core.DeadQuery{Group: group}, 1, core.Pace{})
	s.Must(err)
	count(3)
	_, err = s.Store.Retry(s.Ctx, dead[1].ID)
	s.Must(err)
	count(2)
	n, err := s.Store.Discard(s.Ctx, core.DeadQuery{Group: group}, 1)
	if s.Must(err); n.N != 1 {
		s.Errorf("discarded %+v", n)
	}
	count(1)
	s.Advance(48 * time.Hour)
	_, err = s.Store.Maintain(s.Ctx, core.MaintainRequest{DeadRetention: time.Hour})
	s.Must(err)
	count(0)
	again := s.Claim("a", 1)[0]
	s.FinishAs(core.Failed, core.End{Ref: storetest.RefOf(again), Outcome: core.EndFail, Errors: storetest.OneError(again, "no")})
	count(1) // the same job, failed once more
}

func listDead(s *storetest.Stage) {
	var alike []core.Job
	for i := range 6 {
		alike = append(alike, failWith(s, core.NewJob{Type: "a", Tenant: []string{"", "t"}[i%2]}, fmt.Sprint("no ", i)))
		failWith(s, core.NewJob{Type: "a"}, "something else")
		s.Advance(time.Minute)
	}
	s.Put(core.Done, core.NewJob{Type: "a"})
	s.SubmitOne(core.NewJob{Type: "a"})
	group, failed, t := core.ErrorGroup("a", alike[0].Errors), []core.Status{core.Failed}, "t"
	slices.Reverse(alike)
	ids := storetest.IdsOf(alike)
	for name, c := range map[string]struct {
		q    core.ListQuery
		want []int64
	}{
		"group":              {core.ListQuery{Statuses: failed, Group: group}, ids},
		"group, any status":  {core.ListQuery{Group: group}, ids},
		"group below":        {core.ListQuery{Group: group, Before: ids[1]}, ids[2:]},
		"group and tenant":   {core.ListQuery{Group: group, Tenant: &t}, []int64{ids[0], ids[2], ids[4]}},
		"group and time":     {core.ListQuery{Group: group, FailedBefore: alike[3].FinishedAt}, ids[4:]},
		"time":               {core.ListQuery{Type: "a", Tenant: &t, FailedBefore: alike[2].FinishedAt}, []int64{ids[4]}},
		"another's group":    {core.ListQuery{Group: core.ErrorGroup("b", alike[0].Errors)}, nil},
		"group of the done":  {core.ListQuery{Statuses: []core.Status{core.Done}, Group: group}, nil},
		"group and the done": {core.ListQuery{Statuses: []core.Status{core.Done, core.Failed}, Group: group}, ids},
	} {
		c.q.Limit = 100
		if got := storetest.IdsOf(s.List(c.q)); !slices.Equal(got, c.want) {
			s.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
