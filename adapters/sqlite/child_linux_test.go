package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// otherAct runs the acts that need what only Linux has.
func otherAct(act, path string) int {
	switch act {
	case "open mounted":
		return childMounted(path)
	case "fill":
		return childFill(path)
	}
	return 99
}

// runApart gives a child mounts of its own, which the rest of the machine does not see.
func runApart(t *testing.T, act, path string) (said string) {
	t.Helper()
	cmd := child(t, act, path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
	}
	out, err := cmd.Output()
	if errors.Is(err, syscall.EPERM) || strings.HasPrefix(string(out), "mount: ") {
		t.Skipf("left out, because nothing may be mounted here: %v %s", err, out)
	}
	if err != nil {
		t.Logf("%s: %v", act, err)
	}
	return string(out)
}

func mount(source, target, kind string, flags uintptr, data string) bool {
	err := errors.Join(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""), syscall.Mount(source, target, kind, flags, data))
	if err != nil {
		fmt.Print("mount: ", err)
	}
	return err == nil
}

// childMounted opens a file under another name, at which it is mounted.
func childMounted(path string) int {
	other := filepath.Join(filepath.Dir(path), "mounted here.db")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		fmt.Print(err)
		return 1
	}
	if !mount(path, other, "", syscall.MS_BIND, "") {
		return 1
	}
	return childOpen(other)
}

// childFill writes jobs to a file on a small disk until that is full, and once more when there is room again.
func childFill(dir string) int {
	if !mount("none", dir, "tmpfs", 0, "size=2m") {
		return 1
	}
	made := filepath.Join(dir, "made.db")
	store, err := Open(background, made, Options{})
	if err == nil {
		err = store.Close()
	}
	if err == nil {
		store, err = Open(background, filepath.Join(dir, "belfry.db"), Options{})
	}
	if err != nil {
		fmt.Print("open: ", err)
		return 1
	}
	reserve := filepath.Join(dir, "reserve")
	if err := os.WriteFile(reserve, make([]byte, 600<<10), 0o600); err != nil {
		fmt.Print(err)
		return 1
	}
	job := core.NewJob{Type: "a", Payload: []byte(`"` + strings.Repeat("x", 3000) + `"`)}
	for err == nil {
		_, err = store.Submit(background, []core.NewJob{job})
	}
	fmt.Println("full:", errors.Is(err, core.ErrFull), errors.Is(err, core.ErrReadOnly), err)
	_, err = store.List(background, core.ListQuery{Limit: 10})
	fmt.Println("read:", err)
	for i := range 100 { // to the last byte
		_ = os.WriteFile(filepath.Join(dir, fmt.Sprint("filler", i)), make([]byte, 4096), 0o600)
	}
	for _, name := range []string{"second.db", "made.db"} {
		again, err := Open(background, filepath.Join(dir, name), Options{})
		fmt.Println(name+":", errors.Is(err, core.ErrFull), err)
		if err == nil {
			_ = again.Close()
		}
	}
	if err := os.Remove(reserve); err != nil {
		fmt.Print(err)
		return 1
	}
	_, err = store.Submit(background, []core.NewJob{job})
	fmt.Println("room:", err)
	fmt.Println("close:", store.Close())
	return 0
}

// A file that is held under one name is refused under each other one, and is what it was under the first.
func TestOtherNamesOfOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	store := openHere(t, path, Options{})
	elsewhere := filepath.Join(t.TempDir(), "elsewhere.db")
	for _, name := range []string{filepath.Join(filepath.Dir(path), "hard link.db"), elsewhere} {
		if err := os.Link(path, name); err != nil {
			t.Fatal(err)
		}
		if said, err := child(t, "open", name).Output(); err == nil || !strings.HasPrefix(string(said), "locked: ") || !strings.Contains(string(said), "another name") {
			t.Errorf("%s in another process: %q, %v", name, said, err)
		}
		if _, err := Open(t.Context(), name, Options{}); !errors.Is(err, core.ErrLocked) {
			t.Errorf("%s in this process: %v", name, err)
		}
	}
	out, err := store.Submit(t.Context(), []core.NewJob{{Type: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	other := openHere(t, elsewhere, Options{})
	if _, err := other.Get(t.Context(), out[0].ID); err != nil {
		t.Errorf("once it is closed, its other name has the jobs: %v", err)
	}
}

// A process that crashes leaves its newest jobs beside the name it used. Under another name the file would be without them.
func TestOtherNameAfterACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	other := filepath.Join(t.TempDir(), "other.db")
	openAndClose(t, path)
	if err := os.Link(path, other); err != nil {
		t.Fatal(err)
	}
	accepted := killedWhileSubmitting(t, path)
	if _, err := Open(t.Context(), other, Options{}); !errors.Is(err, core.ErrUnavailable) || !strings.Contains(err.Error(), "another name") {
		t.Fatalf("it was opened without the newest jobs, or: %v", err)
	}
	openAndClose(t, path)
	store := openHere(t, other, Options{})
	for _, id := range accepted {
		if _, err := store.Get(t.Context(), id); err != nil {
			t.Fatalf("job %d: %v", id, err)
		}
	}
}

func openAndClose(t *testing.T, path string) {
	t.Helper()
	store, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// killedWhileSubmitting kills a process that submits, and returns the ids of some jobs that it was answered.
func killedWhileSubmitting(t *testing.T, path string) (accepted []int64) {
	t.Helper()
	cmd := child(t, "submit", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for len(accepted) < 100 {
		var word string
		var id int64
		if _, err := fmt.Fscanln(out, &word, &id); err != nil {
			t.Fatal(err)
		}
		if word == "accepted" {
			accepted = append(accepted, id)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	return accepted
}

// A file that is mounted alone, as containers like to do it, would leave its newest commits outside.
func TestFileThatIsMountedAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	openAndClose(t, path)
	if said := runApart(t, "open mounted", path); !strings.Contains(said, "mount its directory") {
		t.Errorf("a file mounted alone: %q", said)
	}
	openHere(t, path, Options{})
	if said := runApart(t, "open mounted", path); !strings.HasPrefix(said, "locked: ") {
		t.Errorf("a file that is open, mounted elsewhere: %q", said)
	}
}

// A disk that is full is called so, whichever of SQLite's files meets it, and is no more once there is room.
func TestDiskThatIsFull(t *testing.T) {
	said := runApart(t, "fill", t.TempDir())
	for _, want := range []string{"full: true true", "the disk is full, or a quota is used up", "read: <nil>", "second.db: true", "made.db: true", "room: <nil>", "close: <nil>"} {
		if !strings.Contains(said, want) {
			t.Errorf("want %q in\n%s", want, said)
		}
	}
	t.Log(said)
}
