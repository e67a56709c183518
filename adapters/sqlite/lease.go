package sqlite

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// defaultBucketLease is the length of bucket leases where a tick names none.
const defaultBucketLease = 4 * time.Second

// renew renews and takes bucket leases and returns those held now. What an unclean former holder had queued
// becomes due for publishing at once.
func (t *tx) renew(holder string, length time.Duration) ([]core.Held, error) {
	if length <= 0 {
		length = defaultBucketLease
	}
	if err := t.bulk("orphan", t.now, holder); err != nil {
		return nil, err
	}
	if err := t.renewAll(holder, length); err != nil {
		return nil, err
	}
	var held []core.Held
	err := t.query("held_leases", func(r row) error {
		held = append(held, core.Held{Bucket: int(r.int(0)), Token: r.int(1)})
		return nil
	}, holder)
	return held, err
}

// renewAll makes the rows of buckets again that somebody deleted, and renews and takes bucket leases.
func (t *tx) renewAll(holder string, length time.Duration) error {
	rows, _, err := t.number("count_leases")
	if err != nil {
		return err
	}
	if rows < core.Buckets {
		err := t.eachBucket(func(from, to int) error {
			_, err := t.exec("make_leases", from, to)
			return err
		})
		if err != nil {
			return err
		}
	}
	return t.eachBucket(func(from, to int) error {
		_, err := t.exec("renew_leases", holder, t.now, t.now+length.Microseconds(), farAhead(t.now)+length.Microseconds(), from, to)
		return err
	})
}

// eachBucket has something done to the rows of all buckets at once. A careful operation does it bucket by bucket.
func (t *tx) eachBucket(do func(from, to int) error) error {
	if !t.careful {
		return do(0, core.Buckets-1)
	}
	for bucket := range core.Buckets {
		of := core.RowFault{Kind: core.ApartBucket, ID: int64(bucket), Act: "lease"}
		if _, err := t.alone(of, func() error { return do(bucket, bucket) }); err != nil {
			return err
		}
	}
	return nil
}

// ReleaseLeases gives the holder's leases up as clean.
func (s *Store) ReleaseLeases(ctx context.Context, holder string) error {
	err := s.writer.run(ctx, func(t *tx) error {
		_, err := t.exec("release_leases", holder)
		return err
	})
	if err == nil {
		s.leases.forget(holder)
	}
	return wrap("release leases", err)
}

// holders remembers what each holder held at its last tick, so that a tick can say what was lost since.
type holders struct {
	mu   sync.Mutex
	last map[string]int64 // buckets as bits
}

// note records what holder holds now and reports whether anything it held before is gone.
func (h *holders) note(holder string, buckets int64) (lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil {
		h.last = make(map[string]int64)
	}
	lost = h.last[holder]&^buckets != 0
	h.last[holder] = buckets
	return lost
}

func (h *holders) forget(holder string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.last, holder)
}

// bits is the set of the buckets held.
func bits(held []core.Held) int64 {
	var set int64
	for _, h := range held {
		set |= 1 << h.Bucket
	}
	return set
}
