package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Stats is the whole in numbers, at most a second old.
type Stats struct {
	Now             time.Time    `json:"now"`     // the store's clock
	Window          string       `json:"window"`  // the period that lags and counts by type are about
	Mode            string       `json:"mode"`    // how workers get jobs: ModeDirect or ModeQueues
	Queues          []QueueStats `json:"queues"`  // one per priority, most urgent first
	Workers         int          `json:"workers"` // that live
	Slots           SlotStats    `json:"slots"`   // of these
	Types           []TypeStats  `json:"types"`
	DeadLetters     int          `json:"dead_letters"`
	Stuck           int          `json:"stuck"`     // running jobs whose lease has passed
	Unhandled       int          `json:"unhandled"` // due jobs, queued ones included, of types that no worker handles
	Capped          bool         `json:"capped"`    // DeadLetters or Unhandled stopped at 100,000
	OldestSnapshot  string       `json:"oldest_snapshot"`
	HistoryOverflow int          `json:"history_overflow"`
	SetApartRows    int          `json:"set_apart_rows"` // rows that raise an error and are set apart, so that they stop no other
	SetApart        []ApartRow   `json:"set_apart"`      // some of these

	document []byte
}

// ApartRow is a row that raises an error and is set apart.
type ApartRow struct {
	Row     string    `json:"row"`   // such as "job 17 (mail.send)"
	Act     string    `json:"act"`   // what was being done to it
	Error   string    `json:"error"` // what the database said
	Tries   int       `json:"tries"` // how often it was met in a row
	Since   time.Time `json:"since"`
	RetryAt time.Time `json:"retry_at"` // when it is met again, mended or not
}

// How workers get jobs.
const (
	ModeDirect = "direct" // they claim from the table
	ModeQueues = "queues" // the tick publishes to a queue per priority
)

// Document is the answer as the server wrote it, byte for byte.
func (s *Stats) Document() json.RawMessage { return s.document }

// SlotStats is how many slots live workers have, and how many are in use, as they said at most 30 s ago.
type SlotStats struct {
	All           int `json:"all"`            // jobs that they can run at once
	Busy          int `json:"busy"`           // of these, in use
	ForDeliveries int `json:"for_deliveries"` // of All, those that deliveries to targets may use
	Deliveries    int `json:"deliveries"`     // of these, in use
}

// QueueStats is one priority in numbers. Durations are as Go writes them.
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

// TypeStats is what happened to the jobs of one type in the window.
type TypeStats struct {
	Type      string `json:"type"`
	Starts    int64  `json:"starts"`
	Done      int64  `json:"done"`
	Failed    int64  `json:"failed"`
	Retried   int64  `json:"retried"`
	Cancelled int64  `json:"cancelled"`
	Lost      int64  `json:"lost"`
	Snoozed   int64  `json:"snoozed"`
	Strayed   int64  `json:"strayed"`   // messages that came to workers without a handler, and were passed on
	Workers   int    `json:"workers"`   // live ones that have a handler for it
	Unhandled int    `json:"unhandled"` // its due jobs, where no worker handles it
}

// Stats asks for the numbers.
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

// Ready returns nil when the server can accept jobs: its store is reachable, writable and of a known schema
// version.
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
