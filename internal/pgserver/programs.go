package pgserver

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
)

// ErrNotInstalled says that this machine has no usable PostgreSQL programs.
var ErrNotInstalled = errors.New("pgserver: initdb and postgres not found on PATH or in the usual places")

// usualPlaces are the folders where packages put PostgreSQL's server programs,
// which most of them keep off PATH.
var usualPlaces = []string{
	"/usr/lib/postgresql/*/bin", // Debian, Ubuntu
	"/usr/pgsql-*/bin",          // Red Hat
	"/opt/homebrew/opt/postgresql@*/bin",
	"/opt/homebrew/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
	"/usr/local/pgsql/bin",
}

// FindPrograms returns the folder that holds initdb, postgres and pg_ctl:
// the one on PATH, or the newest in the usual places. It returns
// ErrNotInstalled when there is none.
func FindPrograms() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if resolved, err := filepath.EvalSymlinks(path); err == nil && complete(filepath.Dir(resolved)) {
			return filepath.Dir(resolved), nil
		}
	}
	for _, pattern := range usualPlaces {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		sort.Slice(dirs, func(i, j int) bool { return major(dirs[i]) > major(dirs[j]) })
		for _, dir := range dirs {
			if complete(dir) {
				return dir, nil
			}
		}
	}
	return "", ErrNotInstalled
}

// complete reports whether dir holds every program a Server runs.
func complete(dir string) bool {
	for _, name := range []string{"initdb", "postgres", "pg_ctl"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

// major is the last number in a folder's name: 15 of "/usr/lib/postgresql/15/bin".
// A folder without one comes last.
func major(dir string) int {
	end := len(dir)
	for end > 0 && (dir[end-1] < '0' || dir[end-1] > '9') {
		end--
	}
	start := end
	for start > 0 && dir[start-1] >= '0' && dir[start-1] <= '9' {
		start--
	}
	n, err := strconv.Atoi(dir[start:end])
	if err != nil {
		return -1
	}
	return n
}
