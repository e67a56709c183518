package sqlite

import (
	"sync/atomic"
	"time"
)

// Options are the settings of a Store. The zero value is ready for use.
type Options struct {
	// Clock is the time of the process. Nil means time.Now.
	Clock func() time.Time
	// Offset is added to Clock, in microseconds; whoever holds it may raise it at any time, so that one
	// clock drives due times and leases alike. Nil means none.
	Offset *atomic.Int64
	// Readers is the number of connections that read. Zero means 4.
	Readers int
	// CheckTime is how long opening may spend on looking for damage; a larger file is checked as far as
	// that reaches. Zero means 10 s.
	CheckTime time.Duration
	// NoSync makes commits not wait for the disk: a crash of the machine may lose them, or damage the file. For
	// tests. False means that what was answered is on disk.
	NoSync bool
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Offset == nil {
		o.Offset = new(atomic.Int64)
	}
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if o.CheckTime <= 0 {
		o.CheckTime = 10 * time.Second
	}
	return o
}
