package lambda

import (
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/functions/boot"
)

// TestWhatCannotBeOpenedIsNamed: by the setting where it is mended, without the password in it.
func TestWhatCannotBeOpenedIsNamed(t *testing.T) {
	const queue = "amqp://u:secret@h/?queue=" // of another program
	h := &Function{Settings: boot.Settings{QueueCriticalURL: queue + "c", QueueDefaultURL: queue + "d", QueueBulkURL: queue + "b"}}
	_, queues := h.OpenQueue(t.Context())
	t.Setenv("BELFRY_DATABASE_URL", "postgres://u:secret@127.0.0.1:99999/db")
	_, database := open(t.Context(), Options{})
	for name, err := range map[string]error{"BELFRY_QUEUE_*_URL: ": queues, "BELFRY_DATABASE_URL: ": database} {
		if err == nil || !strings.HasPrefix(err.Error(), name) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s%v", name, err)
		}
	}
}
