package boot

import (
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

func TestWorkerPriorities(t *testing.T) {
	clean(t)
	if s, err := ReadSettings(); err != nil || !slices.Equal(s.TakenPriorities(), core.Priorities[:]) {
		t.Errorf("unset: %v, %v", s.TakenPriorities(), err)
	}
	for text, want := range map[string][]core.Priority{
		"bulk": {core.Bulk}, "bulk,critical": {core.Critical, core.Bulk}, "default": {core.Default}, "critical,default,bulk": core.Priorities[:],
	} {
		t.Setenv("BELFRY_WORKER_PRIORITIES", text)
		if s, err := ReadSettings(); err != nil || !slices.Equal(s.TakenPriorities(), want) {
			t.Errorf("%s: %v, %v", text, s.TakenPriorities(), err)
		}
	}
	for text, say := range map[string]string{
		"": "empty", " ": "white space", ",": "element 1 of 2 is empty", "bulk,": "element 2 of 2 is empty", "Bulk": `unknown priority "Bulk"`, "bulk, default": "white space", "bulk,bulk": "bulk is given twice", "2": "unknown priority",
	} {
		t.Setenv("BELFRY_WORKER_PRIORITIES", text)
		if _, err := ReadSettings(); err == nil || !strings.Contains(err.Error(), "BELFRY_WORKER_PRIORITIES: ") || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v, want %q", text, err, say)
		}
	}
	t.Setenv("BELFRY_WORKER_PRIORITIES", "default,bulk")
	t.Setenv("BELFRY_CRITICAL_WORKERS", "5")
	if _, err := ReadSettings(); err == nil || !strings.Contains(err.Error(), "BELFRY_CRITICAL_WORKERS: is 5, but") {
		t.Errorf("slots for critical jobs that are not taken: %v", err)
	}
}
