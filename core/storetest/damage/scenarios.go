package damage

import (
	"slices"

	"github.com/belfry-dev/belfry/core/storetest"
)

// Scenarios returns the scenarios about rows that cannot be read or raise errors.
func Scenarios() []storetest.Scenario {
	return slices.Concat(
		damageScenarios(),
		apartScenarios(),
		namedScenarios(),
	)
}
