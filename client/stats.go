package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Stats holds the queue and job counts, at most a second old.
type Stats struct {
	Now             time.Time    `json:"now"`     // the store's clock
	Window          string       `json:"window"`  // the period for lags and counts by type
	Mode            string       `json:"mode"`    // how workers get jobs: ModeDirect or ModeQueues
	Queues          []QueueStats `json:"queues"`  // one per priority, most urgent first
	Workers         int          `json:"workers"` // live ones
	Slots           SlotStats    `json:"slots"`   // of the live workers
	Types           []TypeStats  `json:"types"`
	DeadLetters     int          `json:"dead_letters"`
	Stuck           int          `json:"stuck"`     // running jobs whose lease has expired
	Unhandled       int          `json:"unhandled"` // due jobs, including queued ones, of types that no worker handles
	Capped          bool         `json:"capped"`    // DeadLetters or Unhandled stopped at 100,000
	OldestSnapshot  string       `json:"oldest_snapshot"`
	HistoryOverflow int          `json:"history_overflow"`
	SetApartRows    int          `json:"set_apart_rows"` // rows that raise an error and were set apart, so that they do not block others
	SetApart        []ApartRow   `json:"set_apart"`      // some of these

	document []byte
}

// ApartRow is a row that raises an error and is set apart.
type ApartRow struct {
	Row     string    `json:"row"`   // for example "job 17 (mail.send)"
	Act     string    `json:"act"`   // the action that failed
	Error   string    `json:"error"` // the database's error
	Tries   int       `json:"tries"` // failures in a row
	Since   time.Time `json:"since"`
	RetryAt time.Time `json:"retry_at"` // when it is tried again
}

// The ways in which workers get jobs.
const (
	ModeDirect = "direct" // they claim jobs from the table
	ModeQueues = "queues" // the tick publishes to a queue per priority
)

// Document is the answer as the server wrote it, byte for byte.
func (s *Stats) Document() json.RawMessage { return s.document }

// SlotStats counts the slots of live workers and those in use, as reported at most 30 s ago.
type SlotStats struct {
	All           int `json:"all"`            // jobs that they can run at once
	Busy          int `json:"busy"`           // slots of All in use
	ForDeliveries int `json:"for_deliveries"` // slots of All that deliveries to targets may use
	Deliveries    int `json:"deliveries"`     // slots of ForDeliveries in use
}

// QueueStats holds the counts of one priority. Durations are in Go's format.
type QueueStats struct {
	Priority  Priority `json:"priority"`
	Scheduled int      `json:"scheduled"`
	Due       int      `json:"due"`
	Queued    int      `json:"queued"`
	Running   int      `json:"running"`
	Capped    bool     `json:"capped"` // a count stopped at 100,000
	OldestDue string   `json:"oldest_due"`
	LagP50    string   `json:"lag_p50"`
	LagP99    string   `json:"lag_p99"`
}

// TypeStats holds the counts of one type in the window.
type TypeStats struct {
	Type      string `json:"type"`
	Starts    int64  `json:"starts"`
	Done      int64  `json:"done"`
	Failed    int64  `json:"failed"`
	Retried   int64  `json:"retried"`
	Cancelled int64  `json:"cancelled"`
	Lost      int64  `json:"lost"`
	Snoozed   int64  `json:"snoozed"`
	Strayed   int64  `json:"strayed"`   // messages that workers without a handler received and passed on
	Workers   int    `json:"workers"`   // live ones that have a handler for it
	Unhandled int    `json:"unhandled"` // its due jobs if no worker handles the type
}

// Stats returns the counts.
func (c *Client) Stats(ctx context.Context) (*Stats, error) {
	call := call{method: http.MethodGet, path: "/v1/stats", repeatable: true}
	_, body, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	s := Stats{document: body}
	if json.Unmarshal(body, &s) != nil || s.Queues == nil {
		return nil, foreign(call.name())
	}
	return &s, nil
}

// Ready returns nil if the server can accept jobs: its store is reachable, writable and has a known schema version.
func (c *Client) Ready(ctx context.Context) error {
	call := call{method: http.MethodGet, path: "/readyz", repeatable: true}
	_, body, err := c.do(ctx, call)
	if err != nil {
		return err
	}
	var ready struct {
		Status string `json:"status"`
	}
	if json.Unmarshal(body, &ready) != nil || ready.Status != "ok" {
		return foreign(call.name())
	}
	return nil
}
