package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// Someone deletes, moves or replaces the file, or its lock, under a running process: nothing more is accepted,
// because it would be lost, or given an id that a second process gives out too.
func TestFileTakenAwayWhileOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be taken away here")
	}
	for name, take := range map[string]func(path string) error{
		"deleted":      os.Remove,
		"moved":        func(path string) error { return os.Rename(path, path+".old") },
		"replaced":     func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
		"lock deleted": func(path string) error { return os.Remove(path + lockSuffix) },
		"lock taken by another": func(path string) error {
			return errors.Join(os.Remove(path+lockSuffix), os.WriteFile(path+lockSuffix, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "belfry.db")
			store := openHere(t, path, Options{})
			submit := func() error {
				_, err := store.Submit(t.Context(), []core.NewJob{{Type: "a", Priority: core.Default, MaxAttempts: 1}})
				return err
			}
			if err := submit(); err != nil {
				t.Fatal(err)
			}
			if err := take(path); err != nil {
				t.Fatal(err)
			}
			for act, err := range map[string]error{"Submit": submit(), "Ping": store.Ping(t.Context())} {
				if !errors.Is(err, core.ErrUnavailable) || !strings.Contains(err.Error(), "while it was open") {
					t.Errorf("%s: want ErrUnavailable that says why, got %v", act, err)
				}
			}
		})
	}
}
