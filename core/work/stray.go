package work

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
	"github.com/belfry-dev/belfry/core/internal/wait"
)

// A stray is a message whose job nobody here runs, on a queue that workers with different handlers share.

const (
	fleetAge    = 2 * time.Second        // how old what others handle may be when a stray is passed on
	fleetRecent = 500 * time.Millisecond // and when it is about to count as unhandled
	strayFor    = time.Minute            // how long a stray is remembered after it was last here
	strayWait   = 5 * time.Millisecond   // how long one that comes back is kept
	strayAlone  = 40                     // coming so often it is taken for one that only this worker announces
	strayLuck   = 6                      // it may come so often by chance; then it is kept twice as long each time
	strayMost   = 250 * time.Millisecond // and at most, while few are kept
	strayEach   = time.Millisecond       // for each that is: a worker passes no more than a thousand a second on again
	sendRest    = 5 * time.Second        // without trying to send, after it failed
	topicRest   = time.Minute            // the same where no topic could be opened
)

// strays remembers which jobs came to this process although nobody here runs them, and how often.
type strays struct {
	mu    sync.Mutex
	jobs  map[int64]stray
	kept  int // messages that wait here to be passed on
	swept time.Time
}

type stray struct {
	times int
	last  time.Time
}

// met counts a job in and returns how long its message is to be kept before it is passed on. One that comes back again and
// again does so because those who can run it have no slot free; to pass it on at once would only keep everybody busy.
func (s *strays) met(id int64, now time.Time) (keepFor time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs == nil {
		s.jobs = map[int64]stray{}
	}
	if now.Sub(s.swept) > strayFor {
		for id, seen := range s.jobs {
			if now.Sub(seen.last) > strayFor {
				delete(s.jobs, id)
			}
		}
		s.swept = now
	}
	seen := s.jobs[id]
	if now.Sub(seen.last) > strayFor {
		seen.times = 0
	}
	seen.times, seen.last = seen.times+1, now
	s.jobs[id] = seen
	if seen.times == 1 {
		return 0
	}
	return min(strayWait<<min(max(seen.times-strayLuck, 0), 20), max(strayMost, time.Duration(s.kept)*strayEach))
}

// times is how often a job's message was here of late.
func (s *strays) times(id int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs[id].times
}

func (s *strays) keep(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept += n
}

// refuse gives away what nobody here runs, and returns the rest. A message whose type a live worker handles goes back to
// the queue, for that one. The others' rows go back to the scheduler, and their types count as unhandled.
func (s *starter) refuse(ctx context.Context, messages []held) []held {
	w := s.w
	known, strange := w.handled(messages)
	if len(strange) == 0 {
		return known
	}
	call, cancel := context.WithTimeout(ctx, w.opts.StoreTimeout)
	defer cancel()
	fleet, err := w.fleet.Within(call, fleetAge)
	others, nobody := w.runElsewhere(fleet, strange)
	if err == nil && len(nobody) > 0 {
		// Before they count as unhandled the store is asked once more who lives and which types are delivered.
		if w.delivers() {
			err = w.opts.Types.RefreshOlder(call, fleetRecent)
		}
		if err == nil {
			fleet, err = w.fleet.Within(call, fleetRecent)
		}
		var late, more []held
		late, nobody = w.handled(nobody)
		known = append(known, late...)
		more, nobody = w.runElsewhere(fleet, nobody)
		others = append(others, more...)
	}
	if err != nil {
		w.release(append(others, nobody...), releaseSoon)
		return known
	}
	s.passAll(others)
	s.putBack(nobody)
	return known
}

// leave gives away messages of jobs that have no target, of types whose others are delivered here. Where no live worker has
// a handler for the type, they are handed back for a while: the type is published all the same, for those with a target.
func (s *starter) leave(ctx context.Context, messages []held) {
	if len(messages) == 0 {
		return
	}
	call, cancel := context.WithTimeout(ctx, s.w.opts.StoreTimeout)
	defer cancel()
	var others, nobody []held
	for _, age := range []time.Duration{fleetAge, fleetRecent} { // before they count as nobody's the store is asked once more
		fleet, err := s.w.fleet.Within(call, age)
		if err != nil {
			s.w.release(messages, releaseSoon)
			return
		}
		others, nobody = nil, nil
		for _, m := range messages {
			// A worker of some groups announces the marked types of these as its own, so it may find only itself.
			alone := s.w.restricted() && s.w.announcer.seen.times(m.ID) >= strayAlone
			if fleet.Live[m.Type] && !alone {
				others = append(others, m)
			} else {
				nobody = append(nobody, m)
			}
		}
		if len(nobody) == 0 {
			break
		}
	}
	s.passAll(others)
	if len(nobody) == 0 {
		return
	}
	for _, m := range nobody {
		s.w.strayed(m)
	}
	s.w.give(s.priority, -len(nobody)) // for the moment until their ends are known
	s.w.release(s.startRows(ctx, nobody, false), releaseSoon)
}

// runElsewhere parts messages whose types a live worker handles from the others.
func (w *Worker) runElsewhere(fleet core.Fleet, messages []held) (others, nobody []held) {
	for _, m := range messages {
		if fleet.Handles(m.Type, w.deliverable(m.Type)) {
			others = append(others, m)
		} else {
			nobody = append(nobody, m)
		}
	}
	return others, nobody
}

// passAll passes strays on, at once those that are here for the first time, others after a while.
func (s *starter) passAll(messages []held) {
	now, byWait := time.Now(), map[time.Duration][]held{}
	for _, m := range messages {
		keepFor := s.w.announcer.seen.met(m.ID, now)
		byWait[keepFor] = append(byWait[keepFor], m)
	}
	for keepFor, group := range byWait {
		if keepFor == 0 {
			s.pass(group)
			continue
		}
		s.w.announcer.seen.keep(len(group))
		s.w.tasks.Go(func() {
			wait.Sleep(s.w.active, keepFor)
			s.w.announcer.seen.keep(-len(group))
			s.pass(group)
		})
	}
}

// pass sends messages to their queue again and ends those in hand, so that none counts as delivered often. What cannot be
// sent goes back to the scheduler by its row.
func (s *starter) pass(messages []held) {
	again := make([]core.Message, len(messages))
	for i, m := range messages {
		again[i] = m.Message
	}
	ctx, cancel := s.w.call()
	defer cancel()
	errs := s.w.passing.send(ctx, s.priority, again)
	var stuck []held
	for i, m := range messages {
		if i < len(errs) && errs[i] == nil {
			s.w.strayed(m)
			s.w.acknowledge(m.delivery)
		} else {
			stuck = append(stuck, m)
		}
	}
	s.putBack(stuck)
}

// putBack returns rows to the scheduler, which publishes those that someone handles.
func (s *starter) putBack(messages []held) {
	if len(messages) == 0 {
		return
	}
	ctx, cancel := s.w.call()
	defer cancel()
	err := apart.Halve(ctx, refsOf(messages), func(part []core.Ref) error { return s.w.store.Unhandled(ctx, part) }, func(ref core.Ref, err error) error {
		return s.w.store.SetApart(ctx, []core.RowFault{{Kind: core.ApartJob, ID: ref.ID, Act: core.ActGiveBack, Error: apart.Text(err)}})
	})
	if err != nil {
		s.w.release(messages, releaseSoon)
		return
	}
	for _, m := range messages {
		s.w.strayed(m)
		s.w.acknowledge(m.delivery)
	}
}

// strayed counts a message that was given away.
func (w *Worker) strayed(m held) {
	w.mu.Lock()
	w.counts.Strayed++
	w.mu.Unlock()
	w.rollups.Strayed(m.Priority, m.Type, time.Now())
}

// passing sends messages to the queues that they came from. Its topics are opened when they are first needed.
type passing struct {
	queue core.Queue

	mu     sync.Mutex
	topics map[core.Priority]core.Topic
	rest   time.Time // until then nothing is tried
}

func (p *passing) send(ctx context.Context, priority core.Priority, messages []core.Message) []error {
	topic, err := p.topic(ctx, priority)
	if err != nil {
		return nil
	}
	errs := topic.Send(ctx, messages)
	if _, failed := core.Unpublished(messages, errs); failed != nil && ctx.Err() == nil {
		p.mu.Lock()
		p.rest = time.Now().Add(sendRest)
		p.mu.Unlock()
	}
	return errs
}

// topic opens a topic. Where that fails, as where a program may only receive, it is not tried again for a while.
func (p *passing) topic(ctx context.Context, priority core.Priority) (core.Topic, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if topic := p.topics[priority]; topic != nil && time.Now().After(p.rest) {
		return topic, nil
	}
	if p.queue == nil || time.Now().Before(p.rest) {
		return nil, core.ErrNoAnswer
	}
	topic, err := p.queue.OpenTopic(ctx, priority)
	if err != nil {
		p.rest = time.Now().Add(topicRest)
		return nil, err
	}
	if p.topics == nil {
		p.topics = map[core.Priority]core.Topic{}
	}
	p.topics[priority] = topic
	return topic, nil
}

func (p *passing) close(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, topic := range p.topics {
		_ = topic.Close(ctx) // what was sent is sent
	}
}
