package scenario

import "testing"

func TestTargetMet(t *testing.T) {
	for _, c := range []struct {
		target        Target
		ours, against float64
		want          bool
	}{
		{Target{AtLeast: 2.5}, 250, 100, true},
		{Target{AtLeast: 2.5}, 249, 100, false},
		{Target{AtMost: 0.3}, 30, 100, true},
		{Target{AtMost: 0.3}, 31, 100, false},
		{Target{AtLeast: 2.5}, 5, 0, false}, // nothing to compare with
		{Target{Absolute: 2}, 2, 0, true},
		{Target{Absolute: 2}, 2.1, 40, false},
	} {
		if got := c.target.Met(c.ours, c.against); got != c.want {
			t.Errorf("%+v: Met(%v, %v) = %v, want %v", c.target, c.ours, c.against, got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for value, want := range map[float64]string{0: "0.00", 1.234: "1.23", 12.34: "12.3", 123.4: "123", 1234: "1,234", 1234567: "1,234,567"} {
		if got := Number(value); got != want {
			t.Errorf("Number(%v) = %q, want %q", value, got, want)
		}
	}
}
