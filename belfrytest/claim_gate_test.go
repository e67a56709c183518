package belfrytest

import (
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// TestAGateIsNotOpenedByWhatIsNoLongerSo: a lane that was chosen before a job was claimed may no longer be the first.
func TestAGateIsNotOpenedByWhatIsNoLongerSo(t *testing.T) {
	t.Parallel()
	g := newClaimGate(nil, nil)
	seen := g.change()
	g.claimed([]core.Job{{ID: 1}}, nil)
	if g.openFor(&core.Lane{}, seen); g.open {
		t.Error("opened although a job was claimed since")
	}
	if g.openFor(&core.Lane{}, g.change()); !g.open {
		t.Error("shut although nothing happened")
	}
}
