package nodetest_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// A worker that has no handler for any type of the groups it is told, and delivers nothing, is refused before its process says
// that it runs. One that has a handler, or delivers, is not.
func TestAWorkerWithoutAHandlerForItsGroupsIsRefusedAtTheStart(t *testing.T) {
	for _, p := range core.Priorities {
		t.Setenv("BELFRY_QUEUE_"+strings.ToUpper(p.String())+"_URL", "mem://"+p.String())
	}
	t.Setenv("BELFRY_QUEUES", "media=video.*;tools=echo")
	t.Setenv("BELFRY_QUEUES_URL", "mem://{group}-{priority}")
	for _, row := range []struct{ queues, secrets, say string }{
		{"media", "", "BELFRY_WORKER_QUEUES: worker: it has no handler for a type of its queues, media: it handles echo, "},
		{"media,tools", "", ""},
		{"media", "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=", ""},
	} {
		t.Setenv("BELFRY_WORKER_QUEUES", row.queues)
		if row.secrets != "" {
			t.Setenv("BELFRY_WEBHOOK_SECRETS", row.secrets)
		}
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, stop, err := nodetest.Run("all", store)
		if err == nil {
			if err := stop(); err != nil && row.say == "" {
				t.Errorf("%+v: it ends with %v", row, err)
			}
		}
		if (err != nil) != (row.say != "") || err != nil && !strings.Contains(err.Error(), row.say) {
			t.Errorf("%+v: at the start %v, want %q", row, err, row.say)
		}
	}
}
