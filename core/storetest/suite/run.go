// Package suite runs the whole contract of stores against an adapter.
package suite

import (
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core/storetest"
	"github.com/belfry-dev/belfry/core/storetest/damage"
	"github.com/belfry-dev/belfry/core/storetest/operate"
	"github.com/belfry-dev/belfry/core/storetest/schedule"
	"github.com/belfry-dev/belfry/core/storetest/submit"
	"github.com/belfry-dev/belfry/core/storetest/tick"
	"github.com/belfry-dev/belfry/core/storetest/work"
)

// scenarios lists the whole contract. The scenarios of one method may come from several packages.
func scenarios() []storetest.Scenario {
	return slices.Concat(submit.Scenarios(), work.Scenarios(), tick.Scenarios(), schedule.Scenarios(), operate.Scenarios(), damage.Scenarios())
}

// Run runs the whole contract against an adapter.
func Run(t *testing.T, h storetest.Harness) {
	var methods []string
	byMethod := map[string][]storetest.Scenario{}
	for _, sc := range scenarios() {
		method, sentence, ok := strings.Cut(sc.Name, "/")
		if !ok {
			t.Fatalf("%q is not Method/sentence", sc.Name)
		}
		if byMethod[method] == nil {
			methods = append(methods, method)
		}
		byMethod[method] = append(byMethod[method], storetest.Scenario{Name: sentence, Run: sc.Run})
	}
	for _, method := range methods {
		t.Run(method, func(t *testing.T) {
			for _, sc := range byMethod[method] {
				t.Run(sc.Name, func(t *testing.T) { sc.Run(storetest.OpenStage(t, h)) })
			}
		})
	}
}
