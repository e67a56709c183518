package testenv

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// requireVariable names the servers that must be there, as "postgres,pgbouncer".
const requireVariable = "BELFRY_TEST_REQUIRE"

// missing ends a test whose server is not to be had: it fails where the
// environment requires the server, else it is skipped. howTo says what would
// provide it.
func missing(t testing.TB, server string, cause error, howTo string) {
	t.Helper()
	if required(os.Getenv(requireVariable), server) {
		t.Fatalf("%s is required by %s and missing: %v; %s", server, requireVariable, cause, howTo)
	}
	t.Skipf("left out, because it needs %s: %v; %s", server, cause, howTo)
}

// required reports whether the list of names, separated by commas, holds the server.
func required(list, server string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(name string) bool {
		return strings.TrimSpace(name) == server
	})
}
