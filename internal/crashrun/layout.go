package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/internal/queues"
)

// The settings of every node: short, so that a lease runs out within a fault's gap. They are printed.
const (
	lease       = 3_000_000_000 // 3 s
	heartbeat   = 1_000_000_000 // 1 s
	bucketLease = 2_000_000_000 // 2 s
	freezeFor   = 4_500_000_000 // 4.5 s, past every lease
)

// layout says which processes there are, which named points they pass, and what queue is between them.
type layout struct {
	name   string
	says   string
	kind   string   // of the queue that is installed for it; "" is none
	env    []string // of the processes
	nodes  []role
	points []string
	jobs   int
}

// role is a process by what it does.
type role struct{ name, role string }

// types are what the handlers of a process are for. With trouble two workers that share a queue differ: the others' jobs
// that a queue brings them are strays.
func (l *layout) types(name string, trouble bool) string {
	all := "work,odd,even,refused,unrecorded"
	switch {
	case !trouble || l.kind == "":
		return all
	case name == "worker-1":
		return strings.Replace(all, ",even", "", 1)
	case name == "worker-2":
		return strings.Replace(all, ",odd", "", 1)
	}
	return all
}

var apart = []role{{"api", "api"}, {"tick-1", "tick"}, {"tick-2", "tick"}, {"worker-1", "worker"}, {"worker-2", "worker"}}

// layouts are all there are. moto counts the messages of a queue for each one that is sent or received: it gets fewer
// jobs, and few at a time.
var layouts = []layout{
	{name: "a", says: "separate roles, direct", nodes: apart, points: []string{atFinish, atReply}, jobs: 20_000},
	{
		name: "b", says: "tick and worker together over mem topics",
		env:    []string{"BELFRY_QUEUE_CRITICAL_URL=mem://critical", "BELFRY_QUEUE_DEFAULT_URL=mem://default", "BELFRY_QUEUE_BULK_URL=mem://bulk"},
		nodes:  []role{{"api", "api"}, {"both-1", "tick,worker"}, {"both-2", "tick,worker"}},
		points: []string{atPublish, atFinish, atReply}, jobs: 20_000,
	},
	{name: "c", says: "separate roles over RabbitMQ", kind: queues.Rabbit, nodes: apart, points: []string{atPublish, atFinish, atReply}, jobs: 20_000},
	{
		name: "d", says: "separate roles over SQS on moto", kind: queues.SQS, env: []string{"BELFRY_WINDOW=100"},
		nodes: apart, points: []string{atPublish, atFinish, atReply}, jobs: 1_500,
	},
	{name: "e", says: "separate roles over the Pub/Sub emulator", kind: queues.PubSub, nodes: apart, points: []string{atPublish, atFinish, atReply}, jobs: 20_000},
}

func findLayout(name string) (layout, error) {
	i := slices.IndexFunc(layouts, func(l layout) bool { return l.name == name })
	if i < 0 {
		return layout{}, fmt.Errorf("layout %q: want a, b, c, d or e", name)
	}
	return layouts[i], nil
}
