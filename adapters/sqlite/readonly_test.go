//go:build unix

package sqlite

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// nobody is a user who owns nothing: root may write anywhere, so a test run by root asks in another's name.
const nobody = 65534

// openAsUser opens the file in another process of a user without privileges and returns what it said. dir is
// opened up to that user.
func openAsUser(t *testing.T, dir, path string) (said string, opened bool) {
	t.Helper()
	cmd := child(t, "open", path)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		binary := filepath.Join(dir, "test-binary")
		copyProgram(t, cmd.Path, binary)
		cmd = cloneAt(cmd, binary)
	}
	out, err := cmd.Output()
	return string(out), err == nil
}

func cloneAt(cmd *exec.Cmd, binary string) *exec.Cmd {
	cmd.Path, cmd.Args, cmd.Dir = binary, []string{binary}, filepath.Dir(binary)
	return cmd
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(target, source); err != nil {
		t.Fatal(err)
	}
	if err := target.Close(); err != nil {
		t.Fatal(err)
	}
}

// openDirectory makes a directory anybody may enter.
func openDirectory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "belfry-sqlite-") //nolint:usetesting // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = os.Chmod(filepath.Join(dir, "data"), 0o700)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestUnwritablePlacesAreRefused(t *testing.T) {
	dir := openDirectory(t)
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(data, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(data, "belfry.db")
	refused := func(what string) {
		t.Helper()
		said, opened := openAsUser(t, dir, path)
		if opened || !strings.HasPrefix(said, "read-only: ") || !strings.Contains(said, path) || !strings.Contains(said, "must be writable") {
			t.Errorf("%s: want it refused as not writable, got %q", what, said)
		}
	}
	chmod := func(name string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod(data, 0o555)
	refused("a directory nobody may write to, no file yet")
	chmod(data, 0o777)
	if said, opened := openAsUser(t, dir, path); !opened {
		t.Fatalf("a writable directory: %q", said)
	}
	chmod(data, 0o555)
	refused("a directory nobody may write to, with its files")
	chmod(data, 0o777)
	chmod(path, 0o444)
	refused("a file nobody may write to")
}

func TestMissingDirectoryIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "not", "there", "belfry.db")
	_, err := Open(t.Context(), path, Options{})
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "make the directory first") {
		t.Errorf("want the missing directory told, got %v", err)
	}
	if _, err := Open(t.Context(), t.TempDir(), Options{}); err == nil || strings.Contains(err.Error(), core.ErrCorrupt.Error()) {
		t.Errorf("want a directory refused as no file, got %v", err)
	}
	if _, err := Open(t.Context(), "", Options{}); err == nil {
		t.Error("an empty path was opened")
	}
}
