package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// The number of types that are kept is the number that is counted, whatever was done to them.
func TestKeptTypesAreCounted(t *testing.T) {
	store := openHere(t, filepath.Join(t.TempDir(), "belfry.db"), Options{NoSync: true})
	check := func(what string) {
		t.Helper()
		err := store.readers.read(t.Context(), func(c *conn) error {
			kept, _, err := c.number(t.Context(), "count_types")
			if err != nil {
				return err
			}
			counted, _, err := c.number(t.Context(), "SELECT COUNT(*) FROM job_types WHERE defined_at IS NOT NULL OR delivered = 1")
			if kept != counted {
				t.Errorf("after %s: %d are said to be kept, %d are", what, kept, counted)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for round := range 3 {
		for _, name := range []string{"a", "b", "c"} {
			if _, _, err := store.PutType(t.Context(), core.JobType{Name: name}); err != nil {
				t.Fatal(err)
			}
			check("a put")
		}
		for what, act := range map[string]func() error{
			"announcing": func() error {
				return store.Announce(t.Context(), core.Presence{ID: "w", Types: []string{"b", "x", fmt.Sprint("y", round)}})
			},
			"marking":             func() error { return store.MarkDelivered(t.Context(), []string{"a", "m", fmt.Sprint("n", round)}) },
			"deleting":            func() error { return store.DeleteType(t.Context(), "a") },
			"deleting an unknown": func() error { _ = store.DeleteType(t.Context(), "zzz"); return nil },
			"deleting another":    func() error { return store.DeleteType(t.Context(), "c") },
		} {
			if err := act(); err != nil {
				t.Fatal(err)
			}
			check(what)
		}
	}
	if _, err := store.writer.conn.exec(t.Context(), "DELETE FROM job_types"); err != nil {
		t.Fatal(err)
	}
	check("rows deleted by hand")
}

// A definition is written for as many bytes read from the file, and in as many steps, among 6,000 as among 300.
func TestPuttingATypeAmongMany(t *testing.T) {
	if _, err := bytesRead(); err != nil {
		t.Skip("left out, because this system does not count what a process reads: ", err)
	}
	store := openHere(t, filepath.Join(t.TempDir(), "belfry.db"), Options{NoSync: true})
	target := []byte(`{"url":"https://x/` + strings.Repeat("a", 3000) + `"}`)
	put := func(name string) {
		if _, _, err := store.PutType(t.Context(), core.JobType{Name: name, Target: target}); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	cost := func(upTo int) int64 {
		for ; kept < upTo; kept++ {
			put(fmt.Sprintf("t%06d", kept*7919%1_000_003))
		}
		before, err := bytesRead()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			put(fmt.Sprintf("t%06d", i*7919%1_000_003))
			put(fmt.Sprintf("u%d.%d", upTo, i))
		}
		after, err := bytesRead()
		if err != nil {
			t.Fatal(err)
		}
		return (after - before) / 200
	}
	few, many := cost(300), cost(6000)
	t.Logf("%d bytes are read for a put among 300, %d among 6,000", few, many)
	if allowed := 3*few + 16*4096; many > allowed {
		t.Errorf("a put among 6,000 types reads %d bytes, among 300 %d", many, few)
	}
}

// bytesRead is what this process has read from files so far.
func bytesRead() (int64, error) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "rchar: ")
	number, _, _ := strings.Cut(rest, "\n")
	return strconv.ParseInt(number, 10, 64)
}
