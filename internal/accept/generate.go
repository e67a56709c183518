package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// line is one line of the file: a job as submitted, and what is done to it afterwards.
type line struct {
	N      int             `json:"n"`
	Kind   string          `json:"kind"` // plain, fails_once, fails, cancel_early, cancel_running, original, duplicate
	Of     int             `json:"of,omitempty"`
	Job    json.RawMessage `json:"job"`
	Single bool            `json:"single"` // by a request of its own; else in a batch
}

// The kinds of line, and what share of a hundred each has.
const (
	plain         = "plain"
	failsOnce     = "fails_once"     // 5
	fails         = "fails"          // 1
	cancelEarly   = "cancel_early"   // 2
	cancelRunning = "cancel_running" // 2
	original      = "original"       // 3, each followed by its duplicate
	duplicate     = "duplicate"      // 3
)

// oddValues are JSON texts that careless programs change on the way.
var oddValues = []string{
	`null`, `true`, `false`, `0`, `-0`, `1e5`, `1E+2`, `1e400`, `0.1`, `1.0`, `1.00`, `""`, `[]`, `{}`, `[ ]`, `{ }`,
	`9007199254740993`, `3889108265204450030`, `-9223372036854775808`, `12345678901234567890123`,
	`"<script>&amp;</script>"`, "\"line\u2028separator\u2029\"", `"a\/b/c"`, "\"\\u00e9 beside é and e\u0301\"",
	`"\ud83d\ude00 😀"`, `"\u2028\u0007\t\n\"\\"`, `{"a":1,"a":2,"b":{"a":1}}`, "{ \"white\" :\t[ 1 ,\n 2 ] }", `"naïve 队列 مرحبا"`,
	`[[[[[[[[[[1]]]]]]]]]]`, `{"":{"":""}}`, `"` + strings.Repeat("long ", 400) + `"`,
}

// generate writes n lines. The same seed and n write the same bytes.
func generate(w io.Writer, seed uint64, n int) error {
	rnd := rand.New(rand.NewPCG(seed, uint64(n)))
	out := bufio.NewWriter(w)
	pending := 0 // the original whose duplicate comes next
	for i := 1; i <= n; i++ {
		l := line{N: i, Kind: plain, Single: rnd.IntN(4) != 0}
		if pending != 0 {
			l.Kind, l.Of, l.Single, l.Job = duplicate, pending, true, jobOf(rnd, original, pending)
			pending = 0
		} else {
			l.Kind = kindOf(rnd.IntN(1000))
			l.Single = l.Single || l.Kind != plain
			if l.Kind == original {
				pending = i
			}
			l.Job = jobOf(rnd, l.Kind, i)
		}
		if err := writeLine(out, l); err != nil {
			return err
		}
	}
	return out.Flush()
}

func kindOf(permille int) string {
	switch {
	case permille < 52:
		return failsOnce
	case permille < 62:
		return fails
	case permille < 83:
		return cancelEarly
	case permille < 104:
		return cancelRunning
	case permille < 135:
		return original
	}
	return plain
}

// writeLine writes by hand: encoding/json would compact and escape the job's own bytes.
func writeLine(out *bufio.Writer, l line) error {
	_, err := fmt.Fprintf(out, "{\"n\":%d,\"kind\":%q,\"of\":%d,\"single\":%t,\"job\":%s}\n", l.N, l.Kind, l.Of, l.Single,
		strings.ReplaceAll(string(l.Job), "\n", " "))
	return err
}

// jobOf writes the submit document of a line.
func jobOf(rnd *rand.Rand, kind string, n int) json.RawMessage {
	odd := oddValues[rnd.IntN(len(oddValues))]
	f := []string{}
	add := func(format string, args ...any) { f = append(f, fmt.Sprintf(format, args...)) }
	typ, payload := "echo", odd
	delay := ""
	if rnd.IntN(2) == 0 {
		delay = fmt.Sprintf("%dms", rnd.IntN(30_000))
	}
	switch kind {
	case plain:
		switch rnd.IntN(20) {
		case 0:
			payload = "" // left out
		case 1, 2:
			typ, payload = "sleep", fmt.Sprintf(`{"ms":%d, "odd":%s}`, rnd.IntN(200), odd)
		}
	case failsOnce:
		typ, payload = "fail", fmt.Sprintf(`{"times": 1, "odd":%s}`, odd)
		add(`"backoff":["%dms"]`, 100+rnd.IntN(2000))
	case fails:
		typ, payload = "fail", fmt.Sprintf(`{"permanent":true,"odd":%s}`, odd)
	case cancelEarly:
		delay = fmt.Sprintf("%ds", 600+rnd.IntN(600))
	case cancelRunning:
		typ, payload, delay = "sleep", fmt.Sprintf(`{"ms":45000,"odd":%s}`, odd), ""
	case original:
		delay = fmt.Sprintf("%dms", 25_000+rnd.IntN(5_000))
		add(`"dedupe_key":"key %d / é \"%%\""`, n)
	}
	tenant := n % 6 // five tenants and none; of the original for its duplicate
	if tenant > 0 {
		add(`"tenant":"tenant-%d"`, tenant)
	}
	if delay != "" {
		add(`"delay":%q`, delay)
	}
	if payload != "" {
		add(`"payload":%s`, payload)
	}
	if p := rnd.IntN(4); p < 3 {
		add(`"priority":%q`, []string{"critical", "default", "bulk"}[p])
	}
	if rnd.IntN(10) == 0 {
		add(`"tags":["t%d","ünï"]`, rnd.IntN(5))
	}
	return json.RawMessage("{" + strings.Join(append(f, fmt.Sprintf(`"type":%q`, typ)), ",") + "}")
}
