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

// Installation distinguishes the jobs and alerts of one database from those of every other database, and from those of the
// same database before it was restored to an earlier state. A restored database gives ids again, and receivers must not take
// new work for a repeat.
type Installation struct {
	ID      string    // of letters and digits
	FirstID int64     // its first job; the next installation's FirstID ends its jobs
	BegunAt time.Time // its alerts are raised from then on
}

// InstallationStore keeps installations.
type InstallationStore interface {
	// Installations returns all installations, oldest first; there is at least one. If the database is not the one in which
	// the last installation began, or was visibly restored to an earlier state, it first begins a new one.
	Installations(ctx context.Context) ([]Installation, error)
}

// NewInstallationID returns an id that no other installation has.
func NewInstallationID() string { return strings.ToLower(rand.Text()[:16]) }

const (
	installationsEvery   = 30 * time.Second // how old what is known may become
	installationsTimeout = 5 * time.Second
)

// Installations gives jobs and alerts their names outside Belfry. It caches the store's list and reads it again when it is
// old, so that it notices a failover of the database. Safe for concurrent use.
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

// known returns the cached list, and reads it again if it is old. One caller reads while the others use the old list. If the
// store does not answer, all use the old list for a while.
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

// JobID is the job's id outside Belfry: the same at every attempt, and unique among all installations.
func (i *Installations) JobID(ctx context.Context, id int64) string {
	list := i.known(ctx)
	return fmt.Sprintf("msg_%s_%d", list[ofJob(list, id)].ID, id)
}

// Scope distinguishes jobs of different installations that have the same id. It is empty for those of the first.
func (i *Installations) Scope(ctx context.Context, id int64) string {
	list := i.known(ctx)
	if at := ofJob(list, id); at > 0 {
		return list[at].ID
	}
	return ""
}

// ofJob is the index of a job's installation in the list.
func ofJob(list []Installation, id int64) int {
	at, _ := slices.BinarySearchFunc(list, id, func(in Installation, id int64) int {
		if in.FirstID <= id {
			return -1
		}
		return 1
	})
	return max(at-1, 0)
}

// AlertID is an alert's id outside Belfry.
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
