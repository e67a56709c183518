package aws

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuetest"
)

// Few jobs, because moto goes through all messages of a queue for each one it sends or receives.
func TestJobsOverSQS(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.open(t, QueueOptions{Visibility: 60 * time.Second})
	queuetest.Carry(t, openStore(t), q, 40, func() { s.breakReceiving(q.places[core.Default].url) })
}

func TestWorkersWithDifferentHandlersShareSQS(t *testing.T) {
	t.Parallel()
	for _, mayOnlyReceive := range []bool{false, true} {
		queuetest.Share(t, func() (core.Store, core.Queue) {
			return openStore(t), newServer(t).open(t, QueueOptions{Visibility: 60 * time.Second})
		}, 20, mayOnlyReceive)
	}
}

func TestWorkersWithGroupsOfTypesGetNoStraysFromSQS(t *testing.T) {
	t.Parallel()
	queuetest.ShareApart(t, openStore(t), func(string) (core.Queue, error) {
		return newServer(t).open(t, QueueOptions{Visibility: 60 * time.Second}), nil
	}, 20)
}

func openStore(t *testing.T) core.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}
