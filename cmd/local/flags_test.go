package main

import (
	"io"
	"strings"
	"testing"
)

// Queues in memory join nobody but the parts of one process.
func TestTickAndWorkerStayTogetherOverMem(t *testing.T) {
	for _, p := range []string{"CRITICAL", "DEFAULT", "BULK"} {
		t.Setenv("BELFRY_QUEUE_"+p+"_URL", "mem://"+strings.ToLower(p))
	}
	for role, fits := range map[string]bool{"all": true, "api": true, "tick,worker": true, "tick": false, "worker": false, "worker,api": false} {
		_, err := parse([]string{"-database-url", "postgres://h/db", "-role", role}, io.Discard)
		switch {
		case fits && err != nil:
			t.Errorf("-role %s: %v", role, err)
		case !fits && (err == nil || !strings.Contains(err.Error(), "BELFRY_QUEUE_")):
			t.Errorf("-role %s: want it refused by the queues' setting, got %v", role, err)
		}
	}
}
