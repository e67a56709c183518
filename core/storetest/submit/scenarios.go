package submit

import (
	"slices"

	"github.com/belfry-dev/belfry/core/storetest"
)

// Scenarios are the sentences about writing jobs.
func Scenarios() []storetest.Scenario {
	return slices.Concat(
		submitScenarios(),
		dedupeScenarios(),
		payloadScenarios(),
		idempotencyScenarios(),
		onceEachScenarios(),
	)
}
