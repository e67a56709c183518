// Package node runs roles — api, tick, worker — in one process, on a store and a queue that its caller
// opened. cmd/local is flags around it; the crash run is faults around it.
package node
