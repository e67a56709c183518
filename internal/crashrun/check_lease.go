package main

import (
	"time"

	"github.com/belfry-dev/belfry/core"
)

// slack is how far apart two processes' writes to the witness may be from what they tell of.
const slack = 250 * time.Millisecond

// hold is one attempt as the witness saw it.
type hold struct {
	token int64
	pid   int
	until time.Time // end of its lease as far as it is known
	over  bool      // left, or its end was recorded
}

// checkLeases: 4, a job is entered again only when the attempt before it has ended or its lease has; and no
// handler goes on past its lease in a process that was awake.
func (v *verdict) checkLeases(events []event) {
	holds := map[int64]*hold{}
	asleep := map[int]time.Time{} // pid → when it was stopped, while it is
	woken := map[int]time.Time{}  // pid → when it was continued last
	for _, e := range events {
		switch e.what {
		case "stop":
			asleep[int(e.i64(1))] = e.at
		case "cont":
			delete(asleep, int(e.i64(1)))
			woken[int(e.i64(1))] = e.at
		case "enter":
			id, before := e.i64(0), holds[e.i64(0)]
			if before != nil && !before.over && e.at.Before(before.until.Add(-slack)) {
				v.fault("4", "job %d was entered under token %d while token %d had its lease for another %s", id, e.i64(1), before.token, before.until.Sub(e.at))
			}
			holds[id] = &hold{token: e.i64(1), pid: e.pid, until: time.UnixMicro(e.i64(3))}
		case "beat":
			if h := holds[e.i64(0)]; h != nil && h.token == e.i64(1) {
				h.until = time.UnixMicro(e.i64(2))
			}
		case "leave":
			h := holds[e.i64(0)]
			if h == nil || h.token != e.i64(1) {
				continue
			}
			h.over = true
			rested := asleep[h.pid].IsZero() && woken[h.pid].Add(time.Second).Before(e.at)
			if rested && e.at.After(h.until.Add(slack)) {
				v.fault("4", "job %d ran %s past the end of its lease in process %d", e.i64(0), e.at.Sub(h.until), h.pid)
			}
		case "ended":
			if h := holds[e.i64(0)]; h != nil && h.token == e.i64(1) {
				h.over = true
			}
		}
	}
}

// checkFences: 9, each dispatch was made under a bucket lease that was current: a lease token belongs to one
// process, and none dispatches once a later token of its bucket has.
func (v *verdict) checkFences(events []event) {
	type lease struct{ bucket, token int64 }
	holder, newest := map[lease]int{}, map[int64]int64{}
	seenAt := map[lease]time.Time{}
	for _, e := range events {
		if e.what != "dispatch" {
			continue
		}
		l := lease{e.i64(2), e.i64(3)}
		if int64(core.BucketOf(e.i64(0))) != l.bucket || l.token == 0 {
			v.fault("9", "job %d was dispatched under bucket %d, token %d", e.i64(0), l.bucket, l.token)
		}
		if pid, known := holder[l]; known && pid != e.pid {
			v.fault("9", "processes %d and %d dispatched bucket %d under one token %d", pid, e.pid, l.bucket, l.token)
		}
		holder[l] = e.pid
		now := time.UnixMicro(e.i64(4))
		if next := newest[l.bucket]; next > l.token && now.After(seenAt[lease{l.bucket, next}].Add(slack)) {
			v.fault("9", "job %d was dispatched under token %d of bucket %d after token %d had taken over", e.i64(0), l.token, l.bucket, next)
		}
		if l.token > newest[l.bucket] {
			newest[l.bucket] = l.token
			seenAt[l] = now
		}
	}
}

// checkLag measures what a tick costs that dies between commit and publish: from its death until each job it had in hand is
// entered as it was dispatched. A job that was entered as such before, or that a worker turned away, was published by
// somebody else. Time in which database or queue are down counts for nothing, nor what went before it.
func (v *verdict) checkLag(events []event) {
	inHand, entered := map[core.Ref]time.Time{}, map[core.Ref]bool{}
	for _, e := range events {
		switch {
		case e.what == "in_hand" && e.args[0] == atPublish:
			if ref := (core.Ref{ID: e.i64(1), Token: e.i64(2)}); !entered[ref] {
				inHand[ref] = e.at
			}
		case (e.what == "database" || e.what == "queue") && e.args[0] == "start":
			for ref := range inHand {
				inHand[ref] = e.at
			}
		case e.what == "enter":
			ref := core.Ref{ID: e.i64(0), Token: e.i64(1) - 1} // a start raises the token
			entered[ref] = true
			if died, ok := inHand[ref]; ok {
				v.worst = max(v.worst, e.at.Sub(died))
				delete(inHand, ref)
			}
		}
	}
	v.counts["in hand, never entered"] = len(inHand) // cancelled meanwhile, turned away, or not accepted
}
