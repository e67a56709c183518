package boot

import (
	"strings"
	"testing"
)

// Many processes that start at the same moment on one host, as in a test's loop, have names of their own.
func TestInstanceNamesDoNotRepeat(t *testing.T) {
	seen := map[string]bool{}
	for range 10_000 {
		name := InstanceName("host")
		if seen[name] || !strings.HasPrefix(name, "host-") {
			t.Fatalf("%s, seen before: %v", name, seen[name])
		}
		seen[name] = true
	}
}
