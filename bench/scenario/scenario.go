// Package scenario holds what is measured: one file per scenario, each with its cases, its measurement and
// the lines of the result table with their targets.
package scenario

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/bench/system"
)

// Scenario is one question asked of several cases in alternation.
type Scenario struct {
	Name  string
	Title string
	Full  Size // what the published figures use
	Quick Size // the same in seconds
	Tiny  Size // runs once in a test
	Cases []Case
	Lines []Line
	// Measure runs one case on an empty database of its own and returns its figures.
	Measure func(ctx context.Context, b *Bench) (Figures, error)
}

// Size says how much a measurement does. Scenarios leave out what they do not use.
type Size struct {
	Jobs   int
	For    time.Duration // of measurements that last a time rather than a number of jobs
	Beside int           // future rows, and as many finished rows, that lie beside the jobs
}

// Case is one system in one setting.
type Case struct {
	Label    string
	System   string
	Settings system.Settings
	Callers  int  // inserting at once; zero means 1
	Tenants  int  // the jobs are spread over; zero means none
	Beside   bool // Size.Beside future and finished rows are there first
	Snapshot bool // a session holds a REPEATABLE READ snapshot open meanwhile
}

// Figures are what one measurement found, by metric.
type Figures map[Metric]float64

// Metric names a figure, with its unit.
type Metric string

// The metrics.
const (
	JobsPerSecond Metric = "jobs/s"
	P50           Metric = "p50 ms"
	P99           Metric = "p99 ms"
	ClientPerJob  Metric = "client CPU µs/job"
	ServerPerJob  Metric = "server CPU µs/job"
	WALPerJob     Metric = "WAL B/job"
	PeakMemory    Metric = "client peak MiB"
	Transactions  Metric = "transactions/s"
	ClientShare   Metric = "client CPU %"
	ServerShare   Metric = "server CPU %"
)

// Metrics lists all metrics in the order they are printed.
var Metrics = []Metric{JobsPerSecond, P50, P99, Transactions, ClientShare, ServerShare, ClientPerJob, ServerPerJob, WALPerJob, PeakMemory}

// Line is one line of the result table: a figure of one case against that of another, by their labels.
type Line struct {
	Text    string
	Metric  Metric
	Ours    string
	Against string
}

// All lists the scenarios in the order they run.
func All() []Scenario {
	return []Scenario{
		insertOne(), insertBatch(),
		drainEmpty(), drainBesideRows(), drainBesideSnapshot(), drainTenants(),
		startAtOnce(), burst(), idle(), finishOne(),
	}
}

// Find returns the scenario of that name.
func Find(name string) (Scenario, bool) {
	for _, s := range All() {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}

// Case returns the case of that label.
func (s Scenario) Case(label string) (Case, bool) {
	for _, c := range s.Cases {
		if c.Label == label {
			return c, true
		}
	}
	return Case{}, false
}
