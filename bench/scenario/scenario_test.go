package scenario

import "testing"

func TestNumber(t *testing.T) {
	for value, want := range map[float64]string{0: "0.00", 1.234: "1.23", 12.34: "12.3", 123.4: "123", 1234: "1,234", 1234567: "1,234,567"} {
		if got := Number(value); got != want {
			t.Errorf("Number(%v) = %q, want %q", value, got, want)
		}
	}
}
