package core

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Installation tells jobs and alerts of one database from those of any other, and from those that the same database had
// before it was put back to an earlier state: then ids are given again, and receivers must not take new work for a repeat.
type Installation struct {
	ID      string    // of letters and digits
	FirstID int64     // jobs from this id on are its, up to the next installation's
	BegunAt time.Time // alerts raised from then on are its
}

// InstallationStore keeps installations.
type InstallationStore interface {
	// Installations returns all of them, oldest first; there is one at least. If the database is another than the one in
	// which the last was begun, or was put back to an earlier state and that can be seen, another is begun first.
	Installations(ctx context.Context) ([]Installation, error)
}

// NewInstallationID returns an id that no other installation has.
func NewInstallationID() string { return strings.ToLower(rand.Text()[:16]) }

const (
	installationsEvery   = 30 * time.Second // how old what is known may become
	installationsTimeout = 5 * time.Second
)

// Installations names jobs and alerts to the world. It keeps what the store knows in memory and reads it again when it is
// asked and that is old, so that a database that fails over while processes run is noticed. Safe for concurrent use.
type Installations struct {
	store InstallationStore
	turn  chan struct{} // one read at a time; taken by sending
	view  atomic.Pointer[installationsView]
}

type installationsView struct {
	list []Installation // sorted, not empty
	read time.Time
}

// NewInstallations reads the installations of store.
func NewInstallations(ctx context.Context, store InstallationStore) (*Installations, error) {
	i := &Installations{store: store, turn: make(chan struct{}, 1)}
	if err := i.refresh(ctx); err != nil {
		return nil, err
	}
	return i, nil
}

func (i *Installations) refresh(ctx context.Context) error {
	read := time.Now()
	list, err := i.store.Installations(ctx)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: there is none", ErrCorrupt)
	}
	if err != nil {
		return fmt.Errorf("installations: %w", err)
	}
	i.view.Store(&installationsView{list, read})
	return nil
}

// known is what is known, read again if that is old. One caller reads, the others go by what is known; so does he if the
// store does not answer, and nobody asks it again for a while.
func (i *Installations) known(ctx context.Context) []Installation {
	v := i.view.Load()
	if now := time.Now(); max(now.Sub(v.read), now.Round(0).Sub(v.read.Round(0))) < installationsEvery {
		return v.list
	}
	select {
	case i.turn <- struct{}{}:
		defer func() { <-i.turn }()
	default:
		return v.list
	}
	ctx, cancel := context.WithTimeout(ctx, installationsTimeout)
	defer cancel()
	if err := i.refresh(ctx); err != nil {
		i.view.Store(&installationsView{v.list, time.Now()})
	}
	return i.view.Load().list
}

// JobID is what a job is called outside: the same at every attempt, and no other job's anywhere.
func (i *Installations) JobID(ctx context.Context, id int64) string {
	list := i.known(ctx)
	return fmt.Sprintf("msg_%s_%d", list[ofJob(list, id)].ID, id)
}

// Scope tells jobs of different installations apart that have one id. It is empty for those of the first.
func (i *Installations) Scope(ctx context.Context, id int64) string {
	list := i.known(ctx)
	if at := ofJob(list, id); at > 0 {
		return list[at].ID
	}
	return ""
}

// ofJob is the place of a job's installation in the list.
func ofJob(list []Installation, id int64) int {
	at, _ := slices.BinarySearchFunc(list, id, func(in Installation, id int64) int {
		if in.FirstID <= id {
			return -1
		}
		return 1
	})
	return max(at-1, 0)
}

// AlertID is what an alert is called outside.
func (i *Installations) AlertID(ctx context.Context, a *Alert) string {
	list := i.known(ctx)
	of := list[0].ID
	for _, in := range list {
		if !in.BegunAt.After(a.RaisedAt) {
			of = in.ID
		}
	}
	return fmt.Sprintf("alert_%s_%d", of, a.ID)
}
