package main

import (
	"strings"
	"testing"
)

var tallyTests = []struct {
	name     string
	events   []string
	wantGood bool
	want     []string // lines that must be printed, the last one last
	wantNot  []string
}{
	{
		name: "passing tests are counted and not quoted",
		events: []string{
			`{"Action":"run","Package":"p","Test":"A"}`,
			`{"Action":"output","Package":"p","Test":"A","Output":"chatter\n"}`,
			`{"Action":"pass","Package":"p","Test":"A"}`,
			`{"Action":"pass","Package":"p","Test":"A/sub"}`,
			`{"Action":"pass","Package":"p","Elapsed":1.25}`,
		},
		wantGood: true,
		want:     []string{"ok    p  1.2s", "2 passed, 0 failed, 0 skipped"},
		wantNot:  []string{"chatter"},
	},
	{
		name: "a failing test is quoted and its package not counted again",
		events: []string{
			`{"Action":"pass","Package":"p","Test":"A"}`,
			`{"Action":"output","Package":"p","Test":"B","Output":"    b_test.go:3: wrong\n"}`,
			`{"Action":"fail","Package":"p","Test":"B"}`,
			`{"Action":"fail","Package":"p","Elapsed":0.5}`,
		},
		want: []string{"    b_test.go:3: wrong", "FAIL  p  0.5s", "1 passed, 1 failed, 0 skipped"},
	},
	{
		name: "a package that does not build is a failure",
		events: []string{
			`{"Action":"pass","Package":"q","Test":"A"}`,
			`{"ImportPath":"p","Action":"build-output","Output":"p.go:1: syntax error\n"}`,
			`{"Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p"}`,
		},
		want: []string{"p.go:1: syntax error", "1 passed, 1 failed, 0 skipped"},
	},
	{
		name: "a test that never ended is quoted",
		events: []string{
			`{"Action":"pass","Package":"p","Test":"A"}`,
			`{"Action":"output","Package":"p","Test":"B","Output":"panic: out of time\n"}`,
			`{"Action":"fail","Package":"p","Elapsed":9}`,
		},
		want: []string{"panic: out of time", "1 passed, 1 failed, 0 skipped"},
	},
	{
		name: "a skip says why",
		events: []string{
			`{"Action":"pass","Package":"p","Test":"A"}`,
			`{"Action":"output","Package":"p","Test":"B","Output":"=== RUN   B\n"}`,
			`{"Action":"output","Package":"p","Test":"B","Output":"    b_test.go:3: needs postgres\n"}`,
			`{"Action":"output","Package":"p","Test":"B","Output":"--- SKIP: B (0.00s)\n"}`,
			`{"Action":"skip","Package":"p","Test":"B"}`,
			`{"Action":"skip","Package":"no-tests"}`,
		},
		wantGood: true,
		want:     []string{"skip  p B: b_test.go:3: needs postgres", "1 passed, 0 failed, 1 skipped"},
	},
	{
		name:   "a run of nothing is not good",
		events: []string{`go: no such package`},
		want:   []string{"go: no such package", "0 passed, 0 failed, 0 skipped"},
	},
}

func TestTally(t *testing.T) {
	for _, test := range tallyTests {
		t.Run(test.name, func(t *testing.T) {
			var printed strings.Builder
			run := newTally(&printed)
			if err := run.read(strings.NewReader(strings.Join(test.events, "\n") + "\n")); err != nil {
				t.Fatal(err)
			}
			if good := run.close(); good != test.wantGood {
				t.Errorf("good = %v, want %v", good, test.wantGood)
			}
			lines := "\n" + printed.String()
			for _, want := range test.want {
				if !strings.Contains(lines, "\n"+want+"\n") {
					t.Errorf("%q is not a line of:%s", want, lines)
				}
			}
			if last := test.want[len(test.want)-1]; !strings.HasSuffix(lines, "\n"+last+"\n") {
				t.Errorf("the last line is not %q:%s", last, lines)
			}
			for _, not := range test.wantNot {
				if strings.Contains(lines, not) {
					t.Errorf("printed %q", not)
				}
			}
		})
	}
}
