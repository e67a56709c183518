package measure

import (
	"slices"
	"testing"
	"time"
)

func TestQuantilesLeaveOutTheFirstAndTheMissing(t *testing.T) {
	l := NewLatencies(200)
	l.Put(0, time.Hour) // before first
	for i := 1; i <= 100; i++ {
		l.Put(i+50, time.Duration(i)*time.Millisecond)
	}
	if got, want := l.Quantiles(10, 0, 0.5, 0.99, 1), []float64{1, 51, 100, 100}; !slices.Equal(got, want) {
		t.Errorf("quantiles = %v, want %v", got, want)
	}
	if got := NewLatencies(3).Quantiles(0, 0.5); got[0] != 0 {
		t.Errorf("the median of nothing is %v, want 0", got[0])
	}
}

func TestPutTakesEachNumberOnce(t *testing.T) {
	l := NewLatencies(2)
	for _, put := range []struct {
		seq  int
		want bool
	}{{1, true}, {1, false}, {-1, false}, {2, false}, {0, true}} {
		if got := l.Put(put.seq, 0); got != put.want {
			t.Errorf("Put(%d) = %v, want %v", put.seq, got, put.want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 100}, 3}} {
		if got := Median(c.in); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}
