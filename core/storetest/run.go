package storetest

import (
	"slices"
	"strings"
	"testing"
)

// scenario is one sentence of the contract.
type scenario struct {
	name string // "Method/sentence"
	run  func(s *stage)
}

// scenarios lists the whole contract, a method's sentences wherever they are told.
func scenarios() []scenario {
	return slices.Concat(submits(), works(), ticks(), scheduleScenarios(), operates(), damages())
}

// Run runs the whole contract against an adapter.
func Run(t *testing.T, h Harness) {
	var methods []string
	byMethod := map[string][]scenario{}
	for _, sc := range scenarios() {
		method, sentence, ok := strings.Cut(sc.name, "/")
		if !ok {
			t.Fatalf("%q is not Method/sentence", sc.name)
		}
		if byMethod[method] == nil {
			methods = append(methods, method)
		}
		byMethod[method] = append(byMethod[method], scenario{sentence, sc.run})
	}
	for _, method := range methods {
		t.Run(method, func(t *testing.T) {
			for _, sc := range byMethod[method] {
				t.Run(sc.name, func(t *testing.T) { sc.run(openStage(t, h)) })
			}
		})
	}
}
