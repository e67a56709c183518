package rabbit

import (
	"path/filepath"
	"testing"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuetest"
)

func TestJobsOverRabbitMQ(t *testing.T) {
	t.Parallel()
	q := open(t, server(t), QueueOptions{})
	queuetest.Carry(t, openStore(t), q, 500, func() { q.breakOff(core.Default) })
}

func TestWorkersWithDifferentHandlersShareRabbitMQ(t *testing.T) {
	t.Parallel()
	queuetest.Share(t, func() (core.Store, core.Queue) { return openStore(t), open(t, server(t), QueueOptions{}) }, 50, false)
}

func TestWorkersWithGroupsOfTypesGetNoStraysFromRabbitMQ(t *testing.T) {
	t.Parallel()
	queuetest.ShareApart(t, openStore(t), func(string) (core.Queue, error) { return open(t, server(t), QueueOptions{}), nil }, 50)
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
