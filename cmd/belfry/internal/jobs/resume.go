package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// place is how far a file was submitted.
type place struct {
	Lines  int    `json:"lines"`
	Offset int64  `json:"offset"`
	Sum    string `json:"sum"` // SHA-256 of the bytes before it
}

// resume keeps the place of an interrupted run in the user's cache, one file for each file of jobs and server.
type resume struct {
	path string // "" means that nothing is kept
	Run  string `json:"run"`  // goes into the idempotency keys: a batch whose answer was lost is sent again under the same
	Size int    `json:"size"` // lines of a batch: the one that was lost is sent again as it was
	At   place  `json:"at"`
}

// openResume finds the place of a run of this file that was interrupted. With found false there is none.
func openResume(file, address string) (r resume, found bool) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return resume{}, false
	}
	name := sha256.Sum256([]byte(file + "\x00" + address))
	path := filepath.Join(dir, "belfry", "submit-"+hex.EncodeToString(name[:12])+".json")
	text, err := os.ReadFile(path)
	if err == nil && json.Unmarshal(text, &r) == nil && r.Run != "" && r.Size > 0 {
		r.path = path
		return r, true
	}
	return resume{path: path}, false
}

// save keeps the place. The file is replaced whole, so that a crash leaves the old one or the new one.
func (r *resume) save(at place) error {
	if r.path == "" {
		return nil
	}
	r.At = at
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return err
	}
	fresh := r.path + ".new"
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, r.path)
}

// forget ends it: the file was submitted to its end.
func (r *resume) forget() error {
	if r.path == "" {
		return nil
	}
	if err := os.Remove(r.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
