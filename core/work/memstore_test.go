package work

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/states"
)

// memStore is a WorkStore and SubmitStore in memory, faithful to the ports, for tests of the engine's loops.
// Faults are injected around its calls.
type memStore struct {
	core.SubmitStore
	mu      sync.Mutex
	nextID  int64
	jobs    map[int64]*core.Job
	lanes   map[memLaneKey]*laneHeap
	locked  map[int64]bool // rows in a foreign transaction
	offset  time.Duration  // of the store's clock
	counts  []core.Rollup
	shard   int
	calls   map[string]int
	present map[string]core.Presence // workers that said that they are there
	names   []string                 // worker ids seen by claims
	apart   []core.RowFault

	// before fails a call that is not carried out; after loses the answer of one that was.
	before, after func(method string) error
	// onBeat looks at heartbeats.
	onBeat func(beats []core.Ref)
}

type memLaneKey struct {
	priority core.Priority
	typ      string
}

type laneEntry struct {
	at int64
	id int64
}

type laneHeap []laneEntry

func (h laneHeap) Len() int { return len(h) }
func (h laneHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].at, h[j].at), cmp.Compare(h[i].id, h[j].id)) < 0
}
func (h laneHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *laneHeap) Push(x any)   { *h = append(*h, x.(laneEntry)) }
func (h *laneHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func newMemStore() *memStore {
	return &memStore{jobs: map[int64]*core.Job{}, lanes: map[memLaneKey]*laneHeap{}, locked: map[int64]bool{}, calls: map[string]int{}}
}

// enter counts a call and takes the lock, unless the call is to fail.
func (m *memStore) enter(method string) error {
	m.mu.Lock()
	m.calls[method]++
	before := m.before
	if before != nil {
		m.mu.Unlock()
		if err := before(method); err != nil {
			return err
		}
		m.mu.Lock()
	}
	return nil
}

// leave gives the lock back and loses the answer if it is to be lost.
func (m *memStore) leave(method string) error {
	after := m.after
	m.mu.Unlock()
	if after != nil {
		return after(method)
	}
	return nil
}

func (m *memStore) now() time.Time { return time.Now().Add(m.offset).UTC().Truncate(time.Microsecond) }

func (m *memStore) wait(j *core.Job) {
	key := memLaneKey{j.Priority, j.Type}
	if m.lanes[key] == nil {
		m.lanes[key] = &laneHeap{}
	}
	heap.Push(m.lanes[key], laneEntry{j.RunAt.UnixMicro(), j.ID})
}

func (m *memStore) Submit(_ context.Context, jobs []core.NewJob) ([]core.Submitted, error) {
	if err := m.enter("Submit"); err != nil {
		return nil, err
	}
	now := m.now()
	answers := make([]core.Submitted, len(jobs))
	for i, n := range jobs {
		m.nextID++
		j := &core.Job{
			ID: m.nextID, Type: n.Type, Payload: n.Payload, Priority: cmp.Or(n.Priority, core.Default), Tenant: n.Tenant,
			RunAt: n.RunAt, Status: core.Scheduled, MaxAttempts: cmp.Or(n.MaxAttempts, core.DefaultMaxAttempts),
			Timeout: n.Timeout, ExpiresAt: n.ExpiresAt, Backoff: n.Backoff, CreatedAt: now,
		}
		if j.RunAt.IsZero() {
			j.RunAt = now.Add(n.Delay)
		}
		m.jobs[j.ID] = j
		if n.Queued {
			j.Status = core.Queued
		} else {
			m.wait(j)
		}
		answers[i] = core.Submitted{ID: j.ID, RunAt: j.RunAt, CreatedAt: now, Status: j.Status, Token: j.LeaseToken}
	}
	return answers, m.leave("Submit")
}

// begin makes a row running or ends it; it reports whether it runs.
func (m *memStore) begin(j *core.Job, req core.ClaimRequest, now time.Time) bool {
	f := states.Facts{Expired: !j.ExpiresAt.IsZero() && !now.Before(j.ExpiresAt), AttemptsUsed: j.Attempts >= j.MaxAttempts}
	move := states.Transition(core.Scheduled, states.EventClaim, f)
	j.Status = move.Next
	j.LeaseToken += int64(move.Token)
	j.Attempts += move.Attempts
	if move.Next != core.Running {
		j.FinishedAt = now
		return false
	}
	j.ClaimID, j.WorkerID, j.StartedAt, j.LeaseUntil = req.ClaimID, req.WorkerID, now, now.Add(req.Lease)
	return true
}

func (m *memStore) ClaimDue(_ context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	if err := m.enter("ClaimDue"); err != nil {
		return core.ClaimResult{}, err
	}
	if !slices.Contains(m.names, req.WorkerID) {
		m.names = append(m.names, req.WorkerID)
	}
	res := core.ClaimResult{Now: m.now(), Taken: make([]core.Taken, len(req.Quotas)), DueIn: time.Hour}
	for i, q := range req.Quotas {
		m.claimLane(&res, &res.Taken[i], q, req)
	}
	return res, m.leave("ClaimDue")
}

func (m *memStore) claimLane(res *core.ClaimResult, taken *core.Taken, q core.Quota, req core.ClaimRequest) {
	h := m.lanes[memLaneKey{q.Priority, q.Type}]
	if h == nil {
		return
	}
	perTenant := map[string]int{}
	var skipped []laneEntry
	for h.Len() > 0 {
		top := (*h)[0]
		j := m.jobs[top.id]
		if j.Status != core.Scheduled || j.RunAt.UnixMicro() != top.at {
			heap.Pop(h)
			continue
		}
		if due := j.RunAt.Sub(res.Now); due > 0 {
			res.DueIn = min(res.DueIn, due)
			break
		}
		if taken.N >= q.Limit {
			res.DueIn = 0
			break
		}
		heap.Pop(h)
		mark := core.Mark{RunAt: j.RunAt, ID: j.ID}
		behind := q.PerTenant == 0 && q.After != (core.Mark{}) && cmp.Or(mark.RunAt.Compare(q.After.RunAt), cmp.Compare(mark.ID, q.After.ID)) <= 0
		if m.locked[j.ID] {
			res.DueIn = 0
		}
		if m.locked[j.ID] || behind || q.Targeted && j.Target == nil || q.PerTenant > 0 && perTenant[j.Tenant] >= q.PerTenant {
			skipped = append(skipped, top)
			continue
		}
		perTenant[j.Tenant]++
		taken.N++
		taken.Tenants = taken.Tenants || j.Tenant != ""
		taken.Last, taken.LastTenant = mark, j.Tenant
		if m.begin(j, req, res.Now) {
			res.Jobs = append(res.Jobs, *j)
		}
	}
	taken.Wrapped = taken.N < q.Limit
	for _, e := range skipped {
		heap.Push(h, e)
	}
}

func (m *memStore) Waiting(context.Context) ([]core.Lane, error) {
	if err := m.enter("Waiting"); err != nil {
		return nil, err
	}
	var lanes []core.Lane
	for key, h := range m.lanes {
		for h.Len() > 0 {
			top := (*h)[0]
			if j := m.jobs[top.id]; j.Status == core.Scheduled && j.RunAt.UnixMicro() == top.at {
				lanes = append(lanes, core.Lane{Priority: key.priority, Type: key.typ, DueIn: j.RunAt.Sub(m.now())})
				break
			}
			heap.Pop(h)
		}
	}
	return lanes, m.leave("Waiting")
}

func (m *memStore) Start(_ context.Context, refs []core.Ref, req core.ClaimRequest) (core.StartResult, error) {
	if err := m.enter("Start"); err != nil {
		return core.StartResult{}, err
	}
	res := core.StartResult{Now: m.now()}
	for _, ref := range refs {
		j := m.jobs[ref.ID]
		switch {
		case m.locked[ref.ID]:
			res.Busy = append(res.Busy, ref)
		case j == nil || j.Status != core.Queued || j.LeaseToken != ref.Token:
		case req.Targeted && j.Target == nil:
			res.Busy = append(res.Busy, ref)
		case m.begin(j, req, res.Now):
			res.Jobs = append(res.Jobs, *j)
		}
	}
	return res, m.leave("Start")
}

func (m *memStore) ReadClaim(_ context.Context, id int64) ([]core.Job, error) {
	if err := m.enter("ReadClaim"); err != nil {
		return nil, err
	}
	var jobs []core.Job
	for _, j := range m.jobs {
		if j.Status == core.Running && j.ClaimID == id {
			jobs = append(jobs, *j)
		}
	}
	return jobs, m.leave("ReadClaim")
}

func (m *memStore) Unhandled(_ context.Context, refs []core.Ref) error {
	if err := m.enter("Unhandled"); err != nil {
		return err
	}
	for _, ref := range refs {
		if j := m.jobs[ref.ID]; j != nil && j.Status == core.Queued && j.LeaseToken == ref.Token {
			j.Status = core.Scheduled
			j.LeaseToken++
			m.wait(j)
		}
	}
	return m.leave("Unhandled")
}

func (m *memStore) Announce(_ context.Context, p core.Presence) error {
	if err := m.enter("Announce"); err != nil {
		return err
	}
	if m.present == nil {
		m.present = map[string]core.Presence{}
	}
	m.present[p.ID] = p
	return m.leave("Announce")
}

func (m *memStore) Withdraw(_ context.Context, id string) error {
	if err := m.enter("Withdraw"); err != nil {
		return err
	}
	delete(m.present, id)
	return m.leave("Withdraw")
}

func (m *memStore) Fleet(context.Context) (core.Fleet, error) {
	if err := m.enter("Fleet"); err != nil {
		return core.Fleet{}, err
	}
	f := core.Fleet{Live: map[string]bool{}}
	for _, p := range m.present {
		for _, t := range p.Types {
			f.Live[t] = f.Live[t] || p.Queues
		}
		f.Delivers = f.Delivers || p.Delivers && p.Queues
	}
	return f, m.leave("Fleet")
}

func (m *memStore) Heartbeat(_ context.Context, refs []core.Ref, lease time.Duration) ([]core.Beat, error) {
	if err := m.enter("Heartbeat"); err != nil {
		return nil, err
	}
	if m.onBeat != nil {
		m.onBeat(refs)
	}
	answers := make([]core.Beat, len(refs))
	for i, ref := range refs {
		j := m.jobs[ref.ID]
		switch {
		case j == nil || j.Status != core.Running || j.LeaseToken != ref.Token:
			answers[i].Stale = true
		case m.locked[ref.ID]:
			answers[i].Busy = true
		default:
			if until := m.now().Add(lease); j.WorkerID != core.TargetWorkerID || until.After(j.LeaseUntil) {
				j.LeaseUntil = until
			}
			answers[i].CancelWanted = j.CancelWanted
		}
	}
	return answers, m.leave("Heartbeat")
}

func (m *memStore) Finish(_ context.Context, ends []core.End) ([]core.EndAnswer, error) {
	if err := m.enter("Finish"); err != nil {
		return nil, err
	}
	answers := make([]core.EndAnswer, len(ends))
	for i := range ends {
		answers[i] = m.finish(&ends[i])
	}
	return answers, m.leave("Finish")
}

func (m *memStore) finish(e *core.End) core.EndAnswer {
	j, now := m.jobs[e.ID], m.now()
	switch {
	case j == nil:
		return core.EndAnswer{Stale: true}
	case j.EndedToken == e.Token && e.Token != 0:
		return core.EndAnswer{Status: j.Status, Repeat: true}
	case j.Status != core.Running || j.LeaseToken != e.Token || e.Lost && now.Before(j.LeaseUntil):
		return core.EndAnswer{Stale: true}
	case m.locked[e.ID]:
		return core.EndAnswer{Busy: true}
	}
	if e.Outcome == core.EndAccepted {
		j.LeaseUntil, j.ClaimID, j.WorkerID = now.Add(e.Wait), 0, core.TargetWorkerID
		return core.EndAnswer{Status: core.Running}
	}
	event := map[core.Outcome]states.Event{core.EndDone: states.EventDone, core.EndFail: states.EventError, core.EndRetry: states.EventError, core.EndSnooze: states.EventSnooze, core.EndHandBack: states.EventHandBack, core.EndLoss: states.EventLost}[e.Outcome]
	move := states.Transition(core.Running, event, states.Facts{CancelWanted: j.CancelWanted, Permanent: e.Outcome == core.EndFail})
	j.Status, j.EndedToken = move.Next, e.Token
	j.LeaseToken += int64(move.Token)
	j.Attempts += move.Attempts
	j.Snoozes += move.Snoozes
	if e.Errors != nil {
		j.Errors = e.Errors
	}
	j.Result = e.Result
	if j.Status == core.Scheduled {
		j.RunAt = now.Add(e.Wait)
		m.wait(j)
	} else {
		j.FinishedAt = now
	}
	return core.EndAnswer{Status: j.Status}
}

func (m *memStore) AddRollups(_ context.Context, shard int, rows []core.Rollup) error {
	if err := m.enter("AddRollups"); err != nil {
		return err
	}
	m.shard = shard
	m.counts = append(m.counts, rows...)
	return m.leave("AddRollups")
}
