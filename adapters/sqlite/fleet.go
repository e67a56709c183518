package sqlite

import (
	"context"
	"encoding/json"

	"github.com/belfry-dev/belfry/core"
)

// sighting says when workers were last seen that handle a type, in microseconds; 0: never.
type sighting struct {
	types    map[string]int64 // by their handlers
	delivers int64            // workers that deliver
}

// of is when a worker that handles the type was last seen. A type is deliverable where it has a target, or its jobs
// bring their own.
func (s *sighting) of(typ string, deliverable bool) int64 {
	at := s.types[typ]
	if deliverable {
		at = max(at, s.delivers)
	}
	return at
}

func (s *sighting) add(types []string, delivers bool, at int64) {
	if s.types == nil {
		s.types = map[string]int64{}
	}
	for _, t := range types {
		s.types[t] = max(s.types[t], at)
	}
	if delivers {
		s.delivers = max(s.delivers, at)
	}
}

// fleet is what workers handle at one time.
type fleet struct {
	now       int64
	live      sighting       // those that live
	consumers sighting       // those of them that receive from queues
	functions sighting       // functions, seen however long ago
	workers   int            // that live
	slots     core.SlotUse   // of these
	handlers  map[string]int // how many of them have a handler, by type
}

// fleet reads what workers say of themselves.
func (c *conn) fleet(ctx context.Context, now int64) (*fleet, error) {
	f := &fleet{now: now, handlers: map[string]int{}}
	err := c.query(ctx, "workers", func(r row) error {
		function, queues, delivers, types, seen := r.int(0) != 0, r.int(1) != 0, r.int(2) != 0, decode[[]string](r.raw(3)), r.int(4)
		if function {
			f.functions.add(types, delivers, seen)
		}
		if seen <= now-core.PresenceTTL.Microseconds() {
			return nil
		}
		f.live.add(types, delivers, seen)
		if queues {
			f.consumers.add(types, delivers, seen)
		}
		f.workers++
		f.slots.Slots += int(r.int(5))
		f.slots.Busy += int(r.int(6))
		f.slots.DeliverySlots += int(r.int(7))
		f.slots.Deliveries += int(r.int(8))
		for _, t := range types {
			f.handlers[t]++
		}
		return nil
	})
	return f, err
}

// mark is what is known of a type beside what workers announce.
type mark struct {
	until, wait int64 // the mark as unhandled
	earlier     bool  // announced by a program of before, which does not say whether it lives
	deliverable bool
	ownTargets  bool // deliverable only as some of its jobs bring a target
}

// mark reads four columns.
func (r row) mark(from int) mark {
	return mark{until: r.int(from), wait: r.int(from + 1), earlier: r.int(from+2) != 0, deliverable: r.int(from+3) != 0, ownTargets: r.int(from+3) == 2}
}

// published reports whether jobs of the type are published: a live consumer handles them or, where functions may or a
// program of before did, the type is not marked.
func (f *fleet) published(typ string, m mark, unannounced bool) bool {
	return f.consumers.of(typ, m.deliverable) > 0 || (unannounced || m.earlier) && m.until <= f.now
}

// unhandled reports whether no worker handles the type as far as anybody knows: none lives, and neither a function nor a
// program of before announced it since a job came back.
func (f *fleet) unhandled(typ string, m mark) bool {
	return f.live.of(typ, m.deliverable) == 0 && (!m.earlier || m.until > f.now) && f.functions.of(typ, m.deliverable) <= max(m.until-m.wait, 0)
}

// onlyDelivered reports whether nobody runs any jobs of the type but those that bring a target of their own.
func (f *fleet) onlyDelivered(typ string, m mark) bool {
	if !m.ownTargets || f.unhandled(typ, m) {
		return false
	}
	m.deliverable = false
	return f.unhandled(typ, m)
}

// Announce says that a worker is there; see core.WorkStore.
func (s *Store) Announce(ctx context.Context, p core.Presence) error {
	types, err := json.Marshal(p.Types)
	if p.Types == nil {
		types = []byte("[]")
	}
	if err != nil {
		return wrap("announce", err)
	}
	return wrap("announce", s.writer.run(ctx, func(t *tx) error {
		if _, err := t.exec("announce", p.ID, p.Host, p.Version, p.Function, p.Queues, p.Delivers, string(types), int64(p.Slots), int64(p.Busy), int64(p.DeliverySlots), int64(p.Deliveries), t.now); err != nil {
			return err
		}
		_, err := t.exec("clear_marks", string(types), p.Delivers)
		return err
	}))
}

// Withdraw says that a worker is gone.
func (s *Store) Withdraw(ctx context.Context, id string) error {
	return wrap("withdraw", s.writer.run(ctx, func(t *tx) error {
		_, err := t.exec("withdraw", id)
		return err
	}))
}

// Fleet reads what workers handle now.
func (s *Store) Fleet(ctx context.Context) (core.Fleet, error) {
	out := core.Fleet{Live: map[string]bool{}, Marked: map[string]bool{}, Earlier: map[string]bool{}}
	now := s.clock.now()
	err := s.readers.read(ctx, func(c *conn) error {
		return c.snapshot(ctx, func() error {
			f, err := c.fleet(ctx, now)
			if err != nil {
				return err
			}
			for t := range f.consumers.types {
				out.Live[t] = true
			}
			out.Delivers = f.consumers.delivers > 0
			return c.query(ctx, "marked_types", func(r row) error {
				m := r.mark(1)
				out.Marked[r.text(0)] = m.until > now
				out.Earlier[r.text(0)] = m.earlier
				return nil
			})
		})
	})
	return out, wrap("fleet", err)
}
