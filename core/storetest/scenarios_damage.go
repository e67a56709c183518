package storetest

import "slices"

// damages are the sentences about rows that cannot be read or raise errors.
func damages() []scenario {
	return slices.Concat(
		damageScenarios(),
		apartScenarios(),
	)
}
