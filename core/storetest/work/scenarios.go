package work

import (
	"slices"

	"github.com/belfry-dev/belfry/core/storetest"
)

// Scenarios are the sentences about claims, starts, heartbeats and ends.
func Scenarios() []storetest.Scenario {
	return slices.Concat(
		claimScenarios(),
		fairScenarios(),
		waitingScenarios(),
		startScenarios(),
		targetedScenarios(),
		heartbeatScenarios(),
		finishScenarios(),
		acceptedScenarios(),
		lostAnswerScenarios(),
		workerScenarios(),
		unhandledScenarios(),
		tableScenarios(),
	)
}
