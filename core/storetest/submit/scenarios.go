package submit

import (
	"slices"

	"github.com/belfry-dev/belfry/core/storetest"
)

// Scenarios returns the scenarios about writing jobs.
func Scenarios() []storetest.Scenario {
	return slices.Concat(
		submitScenarios(),
		dedupeScenarios(),
		payloadScenarios(),
		idempotencyScenarios(),
		onceEachScenarios(),
	)
}
