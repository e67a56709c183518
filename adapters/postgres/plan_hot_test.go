package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// hotStatements are the pipelines of TestPlans. running and queued are planRows rows in those states.
func hotStatements(running, queued []core.Ref, claim core.ClaimRequest, queue core.TickRequest) []hot {
	ctx := context.Background()
	waiting := []string{"jobs_waiting", "jobs_waiting_of_tenants"}
	byID := []string{"jobs_pkey"}
	ends := func(outcome core.Outcome, lost bool) []core.End {
		list := make([]core.End, len(running))
		for i, ref := range running {
			list[i] = core.End{Ref: ref, Outcome: outcome, Lost: lost}
		}
		return list
	}
	keyed := make([]core.NewJob, planRows)
	for i := range keyed {
		keyed[i] = core.NewJob{Type: "plain", DedupeKey: fmt.Sprint("key-", i)}
	}
	byTime, byTenant, unknown := claim, claim, claim
	byTime.Quotas = []core.Quota{{Priority: core.Default, Type: "plain", Limit: planRows / 2}, {Priority: core.Default, Type: "shared", Limit: planRows / 2}}
	byTenant.Quotas = []core.Quota{{Priority: core.Default, Type: "shared", Limit: planRows, PerTenant: 2, TenantAfter: "tenant-2"}}
	unknown.Quotas = []core.Quota{{Priority: core.Default, Type: "none", Limit: planRows}, {Priority: core.Bulk, Type: "none", Limit: planRows, PerTenant: 2}}
	targeted, startTargeted := claim, claim
	targeted.Quotas = []core.Quota{{Priority: core.Default, Type: "marked", Limit: planRows, Targeted: true}, {Priority: core.Default, Type: "marked", Limit: planRows, PerTenant: 2, Targeted: true}}
	startTargeted.Targeted = true
	queueByTenant := queue
	queueByTenant.Quotas = byTenant.Quotas
	idle := core.TickRequest{Holder: "h", LeaseLength: time.Hour}
	recall := core.TickRequest{Holder: "h", LeaseLength: time.Hour, Recall: true}
	tick := append([]string{"jobs_running", "jobs_queued", "jobs_expiring", "jobs_pkey"}, waiting...)
	ids := make([]int64, planRows)
	for i, ref := range running {
		ids[i] = ref.ID
	}
	return []hot{
		{"submit", func(s *Store) error { _, err := s.Submit(ctx, make([]core.NewJob, planRows)); return err }, nil, 20},
		{"submit keyed", func(s *Store) error { _, err := s.Submit(ctx, keyed); return err }, []string{"jobs_dedupe"}, 40},
		{"claim due", func(s *Store) error { _, err := s.ClaimDue(ctx, byTime); return err }, waiting, 25},
		{"claim due by tenant", func(s *Store) error { _, err := s.ClaimDue(ctx, byTenant); return err }, waiting, 35},
		{"claim due of no rows", func(s *Store) error { _, err := s.ClaimDue(ctx, unknown); return err }, waiting, 1},
		{"claim due of jobs with a target", func(s *Store) error { _, err := s.ClaimDue(ctx, targeted); return err }, waiting, 50},
		{"end refused", func(s *Store) error { _, err := s.endRefused(ctx, running, nil); return err }, byID, 10},
		{"start", func(s *Store) error { _, err := s.Start(ctx, queued, claim); return err }, byID, 25},
		{"start of jobs with a target", func(s *Store) error { _, err := s.Start(ctx, queued, startTargeted); return err }, byID, 25},
		{"current", func(s *Store) error { _, err := s.current(ctx, "current", queued, core.Queued); return err }, byID, 5},
		{"heartbeat", func(s *Store) error { _, err := s.Heartbeat(ctx, running, time.Minute); return err }, byID, 15},
		{"finish done", func(s *Store) error { _, err := s.Finish(ctx, ends(core.EndDone, false)); return err }, byID, 15},
		{"finish fail", func(s *Store) error { _, err := s.Finish(ctx, ends(core.EndFail, false)); return err }, byID, 25},
		{"finish retry", func(s *Store) error { _, err := s.Finish(ctx, ends(core.EndRetry, false)); return err }, byID, 30},
		{"finish accepted", func(s *Store) error { _, err := s.Finish(ctx, ends(core.EndAccepted, false)); return err }, byID, 30},
		{"undispatch", func(s *Store) error { return s.Undispatch(ctx, queued) }, byID, 25},
		{"unhandled", func(s *Store) error { return s.Unhandled(ctx, queued) }, byID, 30},
		{"read claim", func(s *Store) error { _, err := s.ReadClaim(ctx, claim.ClaimID); return err }, []string{"jobs_running"}, 5},
		{"waiting", func(s *Store) error { _, err := s.Waiting(ctx); return err }, waiting, 5},
		{"due in", func(s *Store) error {
			_, err := s.DueIn(ctx, core.DueRequest{Alerts: true, News: time.Minute})
			return err
		}, tick, 1},
		{"stats of a tenant", func(s *Store) error { _, err := s.StatsOf(ctx, "tenant-2"); return err }, tick, 5},
		{"get", func(s *Store) error { _, err := s.Get(ctx, ids[0]); return err }, byID, 1},
		{"ended", func(s *Store) error { _, err := s.Ended(ctx, ids); return err }, byID, 30},
		{"tick", func(s *Store) error { _, err := s.Tick(ctx, queue); return err }, tick, 60},
		{"tick by tenant", func(s *Store) error { _, err := s.Tick(ctx, queueByTenant); return err }, tick, 70},
		{"tick that recalls", func(s *Store) error { _, err := s.Tick(ctx, recall); return err }, tick, 30},
		{"idle tick", func(s *Store) error { _, err := s.Tick(ctx, idle); return err }, tick, 5},
	}
}
