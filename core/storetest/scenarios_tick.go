package storetest

import "slices"

// ticks are the sentences about the scheduler's pass.
func ticks() []scenario {
	return slices.Concat(
		dispatchScenarios(),
		leaseScenarios(),
		reapScenarios(),
		clockScenarios(),
		maintainScenarios(),
		dueInScenarios(),
	)
}
