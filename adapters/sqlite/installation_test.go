package sqlite

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// idsOf opens a file, submits n jobs and returns the installations and the jobs' ids. end ends the store: Close, or as a
// crash does.
func idsOf(t *testing.T, path string, n int, end func(*Store) error) (list []core.Installation, ids []int64) {
	t.Helper()
	store, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := store.Submit(t.Context(), make([]core.NewJob, n))
	for _, made := range out {
		ids = append(ids, made.ID)
	}
	if err == nil {
		list, err = store.Installations(t.Context())
	}
	if ended := end(store); err != nil || ended != nil {
		t.Fatal(err, ended)
	}
	return list, ids
}

// crash gives the file free and writes nothing more, as the end of the process does.
func crash(s *Store) error {
	s.writer.close()
	_, err := s.writer.conn.exec(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)") // for who copies the one file
	for _, undo := range []func() error{s.readers.close, s.writer.conn.close, s.writer.ids.file.Close, s.lock.release} {
		if e := undo(); err == nil {
			err = e
		}
	}
	return err
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600) // the file there stays the same file
	if err == nil {
		_, err = io.Copy(out, in)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestInstallationOutlivesRestarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	first, ids := idsOf(t, path, 10, (*Store).Close)
	highest := ids[9]
	for i, end := range []func(*Store) error{(*Store).Close, crash, crash, (*Store).Close, (*Store).Close} {
		n := 3
		if i == 2 {
			n = 3 * idBlock
		}
		list, ids := idsOf(t, path, n, end)
		if len(list) != 1 || list[0] != first[0] {
			t.Errorf("start %d: %+v, want %+v", i, list, first)
		}
		if ids[0] <= highest || ids[0] > highest+1+idBlock {
			t.Errorf("start %d: id %d after %d", i, ids[0], highest)
		}
		highest = ids[len(ids)-1]
	}
}

// A backup that is put in the database's place knows nothing of the jobs that came after it: no id is given again, and
// what comes from then on is another installation's.
func TestRestoredFileGivesNoIDTwice(t *testing.T) {
	for name, end := range map[string]func(*Store) error{"after a clean end": (*Store).Close, "after a crash": crash} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, backup := filepath.Join(dir, "belfry.db"), filepath.Join(dir, "backup.db")
			first, early := idsOf(t, path, 10, end)
			copyFile(t, path, backup)
			_, late := idsOf(t, path, 50, end)
			copyFile(t, backup, path)
			list, ids := idsOf(t, path, 10, end)
			if ids[0] <= late[len(late)-1] {
				t.Errorf("id %d is given again: %d was the last", ids[0], late[len(late)-1])
			}
			if len(list) != 2 || list[0] != first[0] || list[1].ID == first[0].ID || list[1].FirstID > ids[0] || list[1].FirstID <= early[len(early)-1] {
				t.Errorf("%+v for ids from %d, want another than %+v", list, ids[0], first)
			}
			if again, _ := idsOf(t, path, 1, end); len(again) != 2 {
				t.Errorf("at the next start: %+v", again)
			}
		})
	}
}

// A file that stands elsewhere, or whose file of ids is gone or is another's, is another installation from then on; one
// that is new beside an old file of ids is new.
func TestFileElsewhereIsAnotherInstallation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "belfry.db")
	first, _ := idsOf(t, path, 10, (*Store).Close)
	moved := filepath.Join(t.TempDir(), "belfry.db")
	copyFile(t, path, moved)
	strange := filepath.Join(t.TempDir(), "belfry.db")
	idsOf(t, strange, 99, (*Store).Close)
	copyFile(t, path, strange)
	garbled := filepath.Join(t.TempDir(), "belfry.db")
	copyFile(t, path, garbled)
	if err := os.WriteFile(garbled+idSuffix, []byte("\xff\x00 no ids"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"copied elsewhere": moved, "beside another's ids": strange, "beside garbage": garbled} {
		list, ids := idsOf(t, path, 1, (*Store).Close)
		if len(list) != 2 || list[0] != first[0] || list[1].ID == first[0].ID || list[1].FirstID != ids[0] || ids[0] != 11 {
			t.Errorf("%s: %+v from id %v", name, list, ids)
		}
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if list, ids := idsOf(t, path, 1, (*Store).Close); len(list) != 1 || list[0].ID == first[0].ID || ids[0] != 1 {
		t.Errorf("a new file: %+v from id %v", list, ids)
	}
}
