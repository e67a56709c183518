package work

import (
	"slices"

	"github.com/belfry-dev/belfry/core/storetest"
)

// Scenarios returns the scenarios about claims, starts, heartbeats and ends.
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
