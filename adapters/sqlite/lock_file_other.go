//go:build !linux

package sqlite

import (
	"fmt"
	"os"

	"github.com/belfry-dev/belfry/core"
)

// lockDatabase locks nothing: here such a lock could meet SQLite's own. A file with a second name is refused instead, for
// the lock beside it is found under one of them only.
func lockDatabase(path string) (held *os.File, err error) {
	if links(path) > 1 {
		return nil, fmt.Errorf("%w: %s has another name (a hard link), by which another process may use it: remove one of them", core.ErrLocked, path)
	}
	return nil, nil //nolint:nilnil // nothing is held
}

func checkMount(string) error { return nil }
