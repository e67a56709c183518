package operate

import (
	"slices"

	"github.com/belfry-dev/belfry/core/storetest"
)

// Scenarios returns the scenarios about operators' calls.
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
