package work

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/internal/wait"
	"github.com/belfry-dev/belfry/core/share"
)

const (
	claimGap     = 2 * time.Millisecond // between claims that took little, so that the next takes more
	fewClaims    = 8                    // claims that may take nothing although a survey found due rows
	claimWaitMin = 100 * time.Millisecond
	claimWaitMax = 5 * time.Second
)

// claimer is the state of the claim loop.
type claimer struct {
	w      *Worker
	shares *share.Shares
	last   time.Time // when the last claim was sent
	round  time.Time // when the last round began
	store  outage
	empty  int           // claims in a row that took nothing
	little bool          // the last claim took little
	took   time.Duration // duration of the last claim
	second bool          // this is the second loop, which helps while there is a backlog

	targeted targetedLanes
	version  int64 // of the types claimed
	surveyed surveyed
}

// follow changes the claimed types to those that this worker runs now.
func (c *claimer) follow() {
	if !c.w.delivers() {
		return
	}
	if _, version := c.w.opts.Types.Delivered(); version != c.version {
		var types []string
		types, c.version = c.w.current()
		c.shares.SetTypes(types)
		c.surveyed = surveyed{}
	}
}

// claimLoop claims due jobs until ctx ends. It sleeps until the next known row is due, at most Poll, or until it
// is woken; while lanes hold more rows, it goes on as slots become free.
func (w *Worker) claimLoop(ctx context.Context) {
	c := w.newClaimer()
	for ctx.Err() == nil {
		c.follow()
		open, reserved, ready := c.ready(ctx)
		if !ready {
			continue
		}
		c.claim(open, reserved)
		if c.store.fails > 0 {
			wait.Sleep(ctx, wait.Pause(c.store.fails, claimWaitMin, claimWaitMax, w.opts.Chance()))
		}
	}
}

func (w *Worker) newClaimer() *claimer {
	c := &claimer{w: w, store: outage{w: w}}
	var types []string
	types, c.version = w.current()
	c.shares = share.New(types, w.opts.Weights, w.opts.Priorities...)
	c.begin(time.Now())
	return c
}

func (c *claimer) begin(now time.Time) {
	c.round, c.empty = now, 0
	c.shares.Begin(now)
}

// ready waits once for what prevents a claim, and returns the free slots when nothing does.
func (c *claimer) ready(ctx context.Context) (open, reserved int, ok bool) {
	w, now := c.w, time.Now()
	if w.beats.down() {
		c.wait(ctx, w.opts.Heartbeat/4, 0)
		return 0, 0, false
	}
	if now.Sub(c.round) >= w.opts.Poll {
		c.begin(now)
	}
	w.mu.Lock()
	open, reserved = w.freeLocked()
	w.mu.Unlock()
	untilPoll := max(w.opts.Poll-now.Sub(c.round), 0)
	if open+reserved == 0 {
		c.wait(ctx, w.opts.Poll, 1)
		return 0, 0, false
	}
	if !c.survey() {
		wait.Sleep(ctx, wait.Pause(c.store.fails, claimWaitMin, claimWaitMax, w.opts.Chance()))
		return 0, 0, false
	}
	if due := c.shares.Due(now, untilPoll, open == 0); due > 0 {
		want := 0
		if open == 0 {
			want = reserved + 1
		}
		if !c.wait(ctx, due, want) {
			c.begin(time.Now())
		}
		return 0, 0, false
	}
	if c.pace(ctx, now, open+reserved) {
		w.mu.Lock()
		open, reserved = w.freeLocked()
		w.mu.Unlock()
	}
	return open, reserved, open+reserved > 0
}

// pace waits a moment after a claim that took little, so that the next takes more. It waits longer if more claims of a round
// took nothing than there are lanes: others hold the due rows. It reports whether it waited.
func (c *claimer) pace(ctx context.Context, now time.Time, free int) bool {
	gap, want := claimGap, max(c.w.opts.Slots*3/4, 1)
	if c.w.isHelping() {
		want = max(c.w.opts.Slots*3/8, 1)
	}
	lanes := c.shares.Lanes()
	if c.shares.Surveyed() {
		lanes = fewClaims
	}
	switch {
	case c.empty > lanes:
		gap, want = min(claimGap<<min(c.empty-lanes, 16), c.w.opts.Poll), 0
	case !c.little && free >= want:
		return false
	case !c.little:
		// A claim of many rows is cheaper per row, and the jobs of the last claim may end within part of a claim's time.
		gap = min(max(c.took/2, claimGap), 5*claimGap) + c.took
	case free >= want:
		want = 0
	}
	if gap -= now.Sub(c.last); gap <= 0 {
		return false
	}
	c.wait(ctx, gap, want)
	return true
}

// wait waits for d, for a wake, which begins a round, or for want free slots (0: any number). It reports
// whether slots ended the wait.
func (c *claimer) wait(ctx context.Context, d time.Duration, want int) (slots bool) {
	w := c.w
	if want > 0 && w.wantSlots(want) {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	defer w.wantSlots(0)
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-w.slotC:
		return true
	case <-w.wakeC:
		c.begin(time.Now())
	}
	return false
}

// wantSlots asks for a token on slotC once that many slots are free, and reports whether they are free already.
func (w *Worker) wantSlots(want int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.slotC: // of an earlier wait
	default:
	}
	w.slotWant = 0
	if want == 0 {
		return false
	}
	if open, reserved := w.freeLocked(); open+reserved >= want {
		return true
	}
	w.slotWant = want
	return false
}

// claim makes one claim and runs its jobs.
func (c *claimer) claim(open, reserved int) {
	w, sent := c.w, time.Now()
	quotas, slots := c.reserve(sent)
	if len(quotas) == 0 {
		return
	}
	defer w.promise(slots, -1)
	asked, places := c.targeted.plan(w, quotas, sent)
	if len(asked) == 0 {
		c.shares.RecordTaken(make([]core.Taken, len(quotas)), c.targeted.rest)
		return
	}
	c.last = sent
	req := core.ClaimRequest{WorkerID: *w.name.Load(), ClaimID: newClaimID(), Lease: w.opts.Lease, Quotas: asked}
	ctx, cancel := context.WithTimeout(w.claims, w.opts.StoreTimeout)
	res, err := w.store.ClaimDue(ctx, req)
	cancel()
	c.targeted.claimed(asked, time.Now(), time.Since(sent))
	if err != nil {
		c.shares.Forget()
		c.store.failed(err)
		w.recoverClaim(req.ClaimID, sent, slots, nil)
		return
	}
	c.store.answered()
	c.took = time.Since(sent)
	var dueAt time.Time
	if res.DueIn > 0 {
		dueAt = time.Now().Add(res.DueIn)
	}
	c.shares.RecordTaken(spread(res.Taken, places, len(quotas)), dueAt)
	c.little = len(res.Jobs) < w.opts.Slots/8
	if c.empty++; tookAny(res.Taken) {
		c.empty = 0
	}
	w.begin(res.Jobs, &claimed{sent: sent, store: res.Now}, nil)
	if !c.second && !c.little && c.shares.Busy() {
		signal(w.helpC)
	}
}

// reserve plans a claim for the free slots and reserves them for it, so that two loops never use one slot. While both loops
// claim, each leaves half of the slots to the other.
func (c *claimer) reserve(now time.Time) (quotas []core.Quota, slots [core.Bulk + 1]int) {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	open, reserved := w.freeLocked()
	if w.helping || c.second {
		open = min(open, (w.opts.Slots+1)/2)
	}
	quotas = c.shares.Plan(now, open+reserved, reserved)
	slots = slotsOf(quotas)
	for p, n := range slots {
		w.promised[p] += n
	}
	return quotas, slots
}

// helpLoop is a second claim loop. It works only while lanes hold more rows than consecutive claims take: then the commit of
// one claim and the start of its jobs overlap with the other claim.
func (w *Worker) helpLoop(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-w.helpC:
		}
		c := w.newClaimer()
		c.second = true
		w.setHelping(true)
		for ctx.Err() == nil && !w.beats.down() && c.survey() {
			w.mu.Lock()
			open, reserved := w.freeLocked()
			w.mu.Unlock()
			if open < w.opts.Slots/4 {
				wait.Sleep(ctx, claimGap/2)
				continue
			}
			c.claim(open, reserved)
			if c.little || !c.shares.Busy() || c.store.fails > 0 {
				break
			}
		}
		w.setHelping(false)
	}
}

func (w *Worker) isHelping() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.helping
}

func (w *Worker) setHelping(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.helping = on
}

func tookAny(taken []core.Taken) bool {
	return slices.ContainsFunc(taken, func(t core.Taken) bool { return t.N > 0 })
}

// outage counts failed calls in a row, and reports the first failure and the recovery.
type outage struct {
	w     *Worker
	fails int
}

func (o *outage) failed(err error) {
	if o.fails++; o.fails == 1 {
		o.w.event(Event{Kind: StoreLost, Err: err})
	}
}

func (o *outage) answered() {
	if o.fails > 0 {
		o.w.event(Event{Kind: StoreBack})
	}
	o.fails = 0
}

// newClaimID returns a unique claim id.
func newClaimID() int64 { return rand.Int64N(1<<63-1) + 1 }

// slotsOf returns how many slots of each priority the quotas could fill.
func slotsOf(quotas []core.Quota) (slots [core.Bulk + 1]int) {
	for _, q := range quotas {
		slots[q.Priority] += q.Limit
	}
	return slots
}
