package rollup

import (
	"math"
	"testing"
	"time"
)

func TestShardsSpread(t *testing.T) {
	var n [rollupShards]float64
	for i := range 1600 {
		n[shardOf(time.Duration(i).String())]++
	}
	for shard, got := range n {
		if math.Abs(got-100) > 60 {
			t.Errorf("shard %d has %v of 1600 workers", shard, got)
		}
	}
}
