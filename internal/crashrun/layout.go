package main

import (
	"fmt"
	"os"
)

// The settings of every node: short, so that a lease runs out within a fault's gap. They are printed.
const (
	lease       = 3_000_000_000 // 3 s
	heartbeat   = 1_000_000_000 // 1 s
	bucketLease = 2_000_000_000 // 2 s
	freezeFor   = 4_500_000_000 // 4.5 s, past every lease
)

// layout says which processes there are and which named points they pass.
func layout(which, dsn, addr, witnessPath string, w *witness, log *os.File) ([]*process, []string, error) {
	base := []string{"-dsn", dsn, "-witness", witnessPath}
	make1 := func(name, role string, extra ...string) *process {
		return &process{name: name, role: role, args: append(append([]string{}, base...), extra...), w: w, log: log}
	}
	api := make1("api", "api", "-addr", addr)
	switch which {
	case "a":
		return []*process{api, make1("tick-1", "tick"), make1("tick-2", "tick"), make1("worker-1", "worker"), make1("worker-2", "worker")},
			[]string{atFinish, atReply}, nil
	case "b":
		return []*process{api, make1("both-1", "tick,worker", "-queue"), make1("both-2", "tick,worker", "-queue")},
			[]string{atPublish, atFinish, atReply}, nil
	}
	return nil, nil, fmt.Errorf("layout %q: want a or b", which)
}
