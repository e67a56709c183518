package gcp

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuetest"
)

func TestJobsOverPubSub(t *testing.T) {
	t.Parallel()
	q := open(t, emulator(t), QueueOptions{Visibility: 60 * time.Second}, true)
	queuetest.Carry(t, openStore(t), q, 300, q.line.breakOff)
}

func TestWorkersWithDifferentHandlersSharePubSub(t *testing.T) {
	t.Parallel()
	for _, mayOnlyReceive := range []bool{false, true} {
		queuetest.Share(t, func() (core.Store, core.Queue) {
			return openStore(t), open(t, emulator(t), QueueOptions{Visibility: 60 * time.Second}, true)
		}, 20, mayOnlyReceive)
	}
}

func TestWorkersWithGroupsOfTypesGetNoStraysFromPubSub(t *testing.T) {
	t.Parallel()
	queuetest.ShareApart(t, openStore(t), func(string) (core.Queue, error) {
		return open(t, emulator(t), QueueOptions{Visibility: 60 * time.Second}, true), nil
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
