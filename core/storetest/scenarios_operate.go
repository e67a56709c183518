package storetest

import "slices"

// operates are the sentences about what operators do.
func operates() []scenario {
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
