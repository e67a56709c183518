package storetest

import "slices"

// submits are the sentences about writing jobs.
func submits() []scenario {
	return slices.Concat(
		submitScenarios(),
		dedupeScenarios(),
		payloadScenarios(),
		idempotencyScenarios(),
		onceEachScenarios(),
	)
}
