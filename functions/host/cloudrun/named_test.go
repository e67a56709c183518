package cloudrun

import (
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host"
)

// TestWhatCannotBeOpenedIsNamed: by the setting where it is mended, without the password in it.
func TestWhatCannotBeOpenedIsNamed(t *testing.T) {
	const queue = "amqp://u:secret@h/?queue=" // of another program
	settings := boot.Settings{QueueCriticalURL: queue + "c", QueueDefaultURL: queue + "d", QueueBulkURL: queue + "b"}
	t.Setenv("BELFRY_DATABASE_URL", "postgres://u:secret@127.0.0.1:99999/db")
	for where, platform := range map[string]host.Platform{"Cloud Run": Platform()} {
		_, queues := platform.OpenQueues(t.Context(), settings, 0)
		_, database := host.Open(t.Context(), platform)
		for name, err := range map[string]error{"BELFRY_QUEUE_*_URL: ": queues, "BELFRY_DATABASE_URL: ": database} {
			if err == nil || !strings.HasPrefix(err.Error(), name) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %s%v", where, name, err)
			}
		}
	}
}
