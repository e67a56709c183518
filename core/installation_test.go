package core

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// installationStore answers what it is given.
type installationStore struct {
	list []Installation
	err  error
	asks atomic.Int64
}

func (s *installationStore) Installations(context.Context) ([]Installation, error) {
	s.asks.Add(1)
	return s.list, s.err
}

// A job is the installation's whose ids it is among, an alert that in whose time it was raised.
func TestNamesCarryTheInstallation(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	store := &installationStore{list: []Installation{{ID: "aa", BegunAt: at}, {ID: "bb", FirstID: 100, BegunAt: at.Add(time.Hour)}, {ID: "cc", FirstID: 101, BegunAt: at.Add(2 * time.Hour)}}}
	names, err := NewInstallations(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[int64][2]string{-1: {"msg_aa_-1", ""}, 1: {"msg_aa_1", ""}, 99: {"msg_aa_99", ""}, 100: {"msg_bb_100", "bb"}, 101: {"msg_cc_101", "cc"}, 1 << 60: {"msg_cc_1152921504606846976", "cc"}} {
		if got := [2]string{names.JobID(t.Context(), id), names.Scope(t.Context(), id)}; got != want {
			t.Errorf("%d: %q, want %q", id, got, want)
		}
	}
	for after, want := range map[time.Duration]string{-time.Hour: "alert_aa_7", 0: "alert_aa_7", time.Hour - 1: "alert_aa_7", time.Hour: "alert_bb_7", 90 * time.Minute: "alert_bb_7", 3 * time.Hour: "alert_cc_7"} {
		if got := names.AlertID(t.Context(), &Alert{ID: 7, RaisedAt: at.Add(after)}); got != want {
			t.Errorf("raised after %s: %s, want %s", after, got, want)
		}
	}
}

// A process that runs on through a failover knows of the new installation soon; one whose store does not answer goes on by
// what it knows, and asks rarely.
func TestInstallationsAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &installationStore{list: []Installation{{ID: "aa"}}}
		names, err := NewInstallations(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		expect := func(when, want string, asks int64) {
			t.Helper()
			for range 100 {
				if got := names.JobID(t.Context(), 5); got != want {
					t.Fatalf("%s: %s, want %s", when, got, want)
				}
			}
			if n := store.asks.Load(); n != asks {
				t.Errorf("%s: the store was asked %d times, want %d", when, n, asks)
			}
		}
		expect("at first", "msg_aa_5", 1)
		store.list = append(store.list, Installation{ID: "bb", FirstID: 5})
		time.Sleep(installationsEvery - 1)
		expect("shortly before", "msg_aa_5", 1)
		time.Sleep(time.Nanosecond)
		expect("after a while", "msg_bb_5", 2)
		store.list, store.err = nil, errors.New("down")
		time.Sleep(installationsEvery)
		expect("while the store is down", "msg_bb_5", 3)
		time.Sleep(installationsEvery)
		expect("while it stays so", "msg_bb_5", 4)
	})
}

func TestNoInstallationIsAnError(t *testing.T) {
	if _, err := NewInstallations(t.Context(), &installationStore{}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("none at all: %v", err)
	}
	if _, err := NewInstallations(t.Context(), &installationStore{err: ErrUnavailable}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("no answer: %v", err)
	}
}
