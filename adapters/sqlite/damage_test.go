package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// filled makes a closed file of some hundred kilobytes and returns its path.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "belfry.db")
	store := openHere(t, path, Options{})
	jobs := make([]core.NewJob, 2000)
	for i := range jobs {
		jobs[i] = core.NewJob{Type: "a", Payload: []byte(`"` + strings.Repeat("x", i%300) + `"`)}
	}
	if _, err := store.Submit(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDamagedFileIsRefused(t *testing.T) {
	const (
		page      = 4096
		tableLeaf = 13 // of SQLite's file format
	)
	whole := filled(t)
	for name, damage := range map[string]func(data []byte) []byte{
		"not a database":      func([]byte) []byte { return []byte("hello, I am a text file and no database\n") },
		"short text":          func([]byte) []byte { return []byte("hi") },
		"garbage header":      func(d []byte) []byte { copy(d, strings.Repeat("\xff", 100)); return d },
		"garbage after magic": func(d []byte) []byte { copy(d[16:100], strings.Repeat("\xff", 84)); return d },
		"cut in a page":       func(d []byte) []byte { return d[:len(d)/2-100] },
		"cut between pages":   func(d []byte) []byte { return d[:len(d)/page/2*page] },
		"cut to its header":   func(d []byte) []byte { return d[:100] },
		"a bad page": func(d []byte) []byte {
			copy(d[10*page:11*page], strings.Repeat("\xa5", page))
			return d
		},
		"a zeroed page": func(d []byte) []byte { clear(d[20*page : 21*page]); return d },
		"two pages swapped": func(d []byte) []byte {
			first, last := 0, 0 // leaves of jobs: the fullest table
			for at := len(d) / 2 / page * page; at < len(d); at += page {
				if d[at] == tableLeaf {
					if last = at; first == 0 {
						first = at
					}
				}
			}
			third := append([]byte(nil), d[first:first+page]...)
			copy(d[first:], d[last:last+page])
			copy(d[last:], third)
			return d
		},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(whole)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "belfry.db")
			if err := os.WriteFile(path, damage(data), 0o600); err != nil {
				t.Fatal(err)
			}
			store, err := Open(t.Context(), path, Options{})
			if err == nil {
				_ = store.Close()
			}
			if !errors.Is(err, core.ErrCorrupt) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "backup") {
				t.Errorf("want it refused as damaged, with its path and what to do: %v", err)
			}
			if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a log was left beside it: %v", err)
			}
		})
	}
}

// TestDamageFoundLaterSaysSo opens a damaged file without time for a check: the read that meets the damage tells.
func TestDamageFoundLaterSaysSo(t *testing.T) {
	const page = 4096
	path := filled(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(data[60*page : 100*page])
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	store := openHere(t, path, Options{CheckTime: 1})
	for id := int64(1); id <= 2000; id++ {
		_, err = store.Get(t.Context(), id)
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			break
		}
	}
	if !errors.Is(err, core.ErrCorrupt) || !strings.Contains(err.Error(), "backup") {
		t.Errorf("want the damage told, got %v", err)
	}
}

func TestWholeFileIsNotRefused(t *testing.T) {
	path := filled(t)
	store := openHere(t, path, Options{})
	if jobs, err := store.List(t.Context(), core.ListQuery{Limit: 10}); err != nil || len(jobs.Jobs) != 10 {
		t.Errorf("%d jobs, %v", len(jobs.Jobs), err)
	}
}

// A newer schema is refused unless it says that this program works on it.
func TestNewerSchemaIsRefused(t *testing.T) {
	path := filled(t)
	for _, c := range []struct {
		said, applied, oldest int64
		refused               bool
	}{
		{schemaVersion + 1, 0, 0, true}, // written by a program that knows no compatibility
		{firstCompatible, schemaVersion + 2, schemaVersion + 1, true},
		{schemaVersion + 2, schemaVersion + 2, schemaVersion + 1, true},
		{firstCompatible, schemaVersion + 2, schemaVersion, false},
		{firstCompatible, schemaVersion + 1, firstCompatible, false},
		{firstCompatible, schemaVersion, firstCompatible, false},
	} {
		alter(t, path, fmt.Sprint("PRAGMA user_version = ", c.said))
		alter(t, path, fmt.Sprintf("REPLACE INTO meta (name, value) VALUES ('schema_version', %d), ('schema_oldest', %d)", c.applied, c.oldest))
		store, err := Open(t.Context(), path, Options{})
		if err == nil {
			err = errors.Join(store.Ping(t.Context()), store.Close())
		}
		if c.refused && (!errors.Is(err, core.ErrSchema) || !strings.Contains(err.Error(), fmt.Sprint("version ", max(c.said, c.applied)))) || !c.refused && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Every file says what programs from before compatibility look at, and every migration since which of them it leaves working.
func TestNewFileOpensInProgramsOfBefore(t *testing.T) {
	path := filled(t)
	c, err := connect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	v, err := versionOf(t.Context(), c)
	if want := (version{applied: schemaVersion, oldest: v.oldest, said: firstCompatible}); err != nil || v.oldest <= firstCompatible && v != want {
		t.Errorf("%+v, %v; want %+v", v, err, want)
	}
	for text, refused := range map[string]bool{"": true, "-- belfry:oldest 9": true, "-- belfry:oldest 12": true, "-- belfry:oldest x": true, "CREATE TABLE x;\n-- belfry:oldest 8\n": false} {
		if _, err := oldestAfter(9, text); (err != nil) != refused {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Someone changed what says which version the tables have.
func TestVersionThatNeverWasIsRefused(t *testing.T) {
	path := filled(t)
	for _, version := range []int{-1, -1 << 31, 0} {
		alter(t, path, fmt.Sprint("PRAGMA user_version = ", version))
		if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, core.ErrSchema) {
			t.Errorf("version %d: want it refused, got %v", version, err)
		}
	}
}

func TestMissingTableIsRefused(t *testing.T) {
	path := filled(t)
	alter(t, path, "DROP TABLE job_types")
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, core.ErrSchema) {
		t.Errorf("want it refused, got %v", err)
	}
}

func TestStrangersDatabaseIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	alter(t, path, "CREATE TABLE jobs (id INTEGER)")
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, core.ErrSchema) || !strings.Contains(err.Error(), "another program") {
		t.Fatalf("want another program's file refused, got %v", err)
	}
}

func TestMigrationsRepeat(t *testing.T) {
	path := filled(t)
	c, err := connect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := migrate(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
	if n, _, err := c.number(t.Context(), "SELECT COUNT(*) FROM scheduler_leases"); err != nil || n != core.Buckets {
		t.Errorf("%d leases, %v", n, err)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
}

// alter runs one statement on the file as another program would.
func alter(t *testing.T, path, statement string) {
	t.Helper()
	c, err := connect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
}

// Lease rows of buckets that do not exist, written by hand, are nobody's.
func TestLeasesOfBucketsThatDoNotExist(t *testing.T) {
	path := filled(t)
	alter(t, path, "INSERT INTO scheduler_leases (bucket) VALUES (-5), (64), (32767)")
	store := openHere(t, path, Options{})
	for range 2 {
		res, err := store.Tick(t.Context(), core.TickRequest{Holder: "h"})
		if err != nil || len(res.Held) != core.Buckets || res.Released {
			t.Fatalf("want the %d buckets held, got %d, released %t, %v", core.Buckets, len(res.Held), res.Released, err)
		}
	}
}
