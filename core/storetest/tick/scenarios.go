package tick

import (
	"slices"

	"github.com/belfry-dev/belfry/core/storetest"
)

// Scenarios are the sentences about the scheduler's pass.
func Scenarios() []storetest.Scenario {
	return slices.Concat(
		dispatchScenarios(),
		leaseScenarios(),
		reapScenarios(),
		clockScenarios(),
		maintainScenarios(),
		dueInScenarios(),
	)
}
