package tick

import (
	"slices"

	"github.com/belfry-dev/belfry/core/storetest"
)

// Scenarios returns the scenarios about the scheduler's pass.
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
