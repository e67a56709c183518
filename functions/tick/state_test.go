package tick

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
)

// records are what a JSON log holds with the message of the state.
func records(t *testing.T, log string) (found []map[string]any) {
	t.Helper()
	for line := range strings.Lines(log) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		if record["msg"] == StateMessage {
			found = append(found, record)
		}
	}
	return found
}

// TestState: who holds leases says once a minute how things stand; who stands by says nothing.
func TestState(t *testing.T) {
	offset := new(atomic.Int64)
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{Offset: offset, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	jobs := []core.NewJob{{Type: "a", MaxAttempts: 1, Priority: core.Critical}, {Type: "b", MaxAttempts: 1, Priority: core.Bulk}}
	if _, err := store.Submit(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	offset.Add((90 * time.Second).Microseconds())
	pass := func(holder string, memory *Memory) string {
		var log bytes.Buffer
		o := Options{Store: store, Stats: store, Holder: holder, Log: slog.New(slog.NewJSONHandler(&log, nil))}
		o.Settings.Economy = true
		if err := Invoke(t.Context(), o, memory, false); err != nil {
			t.Fatal(err)
		}
		return log.String()
	}
	var memory Memory
	if said := records(t, pass("a", &memory)); len(said) != 1 {
		t.Fatalf("%d records", len(said))
	}
	if said := records(t, pass("a", &memory)); len(said) != 0 {
		t.Errorf("the same process says within the minute %v", said)
	}
	said := records(t, pass("a", new(Memory)))
	if len(said) != 1 {
		t.Fatalf("%d records", len(said))
	}
	if due, bulk := said[0]["due"], said[0]["oldest_due_seconds_bulk"]; due != 2.0 || bulk.(float64) < 90 || said[0]["oldest_due_seconds_default"] != 0.0 {
		t.Errorf("%v", said[0])
	}
	holding, err := store.Tick(t.Context(), core.TickRequest{Holder: "other", LeaseLength: time.Hour})
	if err != nil || len(holding.Held) == 0 {
		t.Fatalf("%d buckets, %v", len(holding.Held), err)
	}
	if said := records(t, pass("b", new(Memory))); len(said) != 0 {
		t.Errorf("the stand-by says %v", said)
	}
}

// slowStats answers once it is let go, and fails where told to.
type slowStats struct {
	core.StatsStore
	let   chan error
	asked atomic.Int64
}

func (s *slowStats) Stats(context.Context, time.Duration) (core.Stats, error) {
	s.asked.Add(1)
	return core.Stats{}, <-s.let
}

// TestStateHoldsNobodyUp: passes go on while the numbers are read; they are asked for once a minute, and a failure is told.
func TestStateHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		stats := &slowStats{let: make(chan error)}
		s := &stateLog{store: stats, log: slog.New(slog.NewJSONHandler(&log, nil)), latest: new(latest)}
		began := time.Now()
		for second := range 150 {
			s.ticked(t.Context(), tick.Report{Held: 1, Now: began.Add(time.Duration(second) * time.Second)})
		}
		synctest.Wait()
		if n := stats.asked.Load(); n != 3 {
			t.Errorf("asked %d times in 150 seconds", n)
		}
		stats.let <- errors.New("broken by the test")
		stats.let <- nil
		stats.let <- nil
		s.writing.Wait()
		if said := records(t, log.String()); len(said) != 2 || !strings.Contains(log.String(), "state not read") {
			t.Errorf("%s", log.String())
		}
	})
}

// TestStateIsDescribed: docs/metrics.md has the record's fields, all of them and no others.
func TestStateIsDescribed(t *testing.T) {
	var fields, described []string
	given := core.Stats{}
	for _, p := range core.Priorities {
		given.Queues = append(given.Queues, core.QueueStats{Priority: p})
	}
	for i, field := range stateOf(&given) {
		if i%2 == 0 {
			fields = append(fields, field.(string))
		}
	}
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## The tick's record")
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cell, _, _ := strings.Cut(line[2:], " |")
		first := ""
		for _, name := range regexp.MustCompile("`([a-z_…]+)`").FindAllStringSubmatch(cell, -1) {
			if rest, shortened := strings.CutPrefix(name[1], "…"); shortened {
				name[1] = strings.TrimSuffix(first, "_critical") + rest
			} else {
				first = name[1]
			}
			described = append(described, name[1])
		}
	}
	slices.Sort(fields)
	slices.Sort(described)
	if !slices.Equal(fields, described) {
		t.Errorf("described\n%v, written\n%v", described, fields)
	}
}
