package storetest

import "slices"

// works are the sentences about claims, starts, heartbeats and ends.
func works() []scenario {
	return slices.Concat(
		claimScenarios(),
		fairScenarios(),
		waitingScenarios(),
		startScenarios(),
		heartbeatScenarios(),
		finishScenarios(),
		acceptedScenarios(),
		lostAnswerScenarios(),
		workerScenarios(),
		unhandledScenarios(),
		tableScenarios(),
	)
}
