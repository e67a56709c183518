package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestGenerateIsSeededAndHasItsShares(t *testing.T) {
	var a, b bytes.Buffer
	if err := generate(&a, 7, 20_000); err != nil {
		t.Fatal(err)
	}
	if err := generate(&b, 7, 20_000); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Fatal("one seed made two files")
	}
	kinds, n := map[string]int{}, 0
	for text := range bytes.Lines(a.Bytes()) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatalf("line %d: %v\n%s", n+1, err, text)
		}
		kinds[l.Kind]++
		n++
	}
	if n != 20_000 {
		t.Fatalf("%d lines", n)
	}
	for kind, percent := range map[string]int{failsOnce: 5, fails: 1, cancelEarly: 2, cancelRunning: 2, original: 3, duplicate: 3} {
		if got := kinds[kind]; got < n*percent*80/10_000 || got > n*percent*120/10_000 {
			t.Errorf("%s: %d lines, want about %d %%", kind, got, percent)
		}
	}
}
