// Package measure takes the figures: latencies and medians, CPU time and memory of this process, and what
// the PostgreSQL server used.
package measure
