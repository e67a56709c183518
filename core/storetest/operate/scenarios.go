package operate

import (
	"slices"

	"github.com/belfry-dev/belfry/core/storetest"
)

// Scenarios are the sentences about what operators do.
func Scenarios() []storetest.Scenario {
	return slices.Concat(
		cancelScenarios(),
		moveScenarios(),
		retryScenarios(),
		paceScenarios(),
		listScenarios(),
		deadGroupScenarios(),
		typeScenarios(),
		tokenScenarios(),
		secretScenarios(),
		installationScenarios(),
		statsScenarios(),
		rollupScenarios(),
		failureScenarios(),
	)
}
