package sqlite

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// A test binary started with childVariable set is another process: it runs the act named there.
const (
	childVariable = "BELFRY_SQLITE_TEST_CHILD"
	childFile     = "BELFRY_SQLITE_TEST_FILE"
)

func TestMain(m *testing.M) {
	switch act := os.Getenv(childVariable); act {
	case "":
		os.Exit(m.Run())
	case "open":
		os.Exit(childOpen(os.Getenv(childFile)))
	case "submit":
		os.Exit(childSubmit(os.Getenv(childFile)))
	default:
		os.Exit(otherAct(act, os.Getenv(childFile)))
	}
}

// child is this test binary as another process.
func child(t *testing.T, act, path string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(os.Environ(), childVariable+"="+act, childFile+"="+path)
	return cmd
}

// childOpen opens and closes the file and says on standard output how that went.
func childOpen(path string) int {
	out := bufio.NewWriter(os.Stdout)
	defer func() { _ = out.Flush() }()
	store, err := Open(background, path, Options{})
	if err == nil {
		err = store.Close()
	}
	for name, sentinel := range map[string]error{"locked": core.ErrLocked, "read-only": core.ErrReadOnly, "unavailable": core.ErrUnavailable} {
		if errors.Is(err, sentinel) {
			_, _ = out.WriteString(name + ": ")
		}
	}
	if err != nil {
		_, _ = out.WriteString(err.Error())
		return 1
	}
	_, _ = out.WriteString("open")
	return 0
}

func openHere(t *testing.T, path string, opts Options) *Store {
	t.Helper()
	store, err := Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func TestSecondProcessIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	store := openHere(t, path, Options{})
	link := filepath.Join(filepath.Dir(path), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		said, err := child(t, "open", name).Output()
		if err == nil || !strings.HasPrefix(string(said), "locked: ") || !strings.Contains(string(said), "(process ") {
			t.Errorf("a second process on %s: %q, %v", name, said, err)
		}
	}
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, core.ErrLocked) {
		t.Errorf("a second store in one process: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if said, err := child(t, "open", path).Output(); err != nil {
		t.Errorf("after the close: %q, %v", said, err)
	}
}
