//go:build unix

package pgserver

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is the user the programs run as. PostgreSQL and PgBouncer refuse to
// run as root, so root hands over to another user.
type account struct {
	drop     bool
	uid, gid int
}

// findAccount returns this process's own user, or for root the first that
// exists of postgres and nobody.
func findAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(found.Uid)
		gid, gidErr := strconv.Atoi(found.Gid)
		if uidErr == nil && gidErr == nil {
			return account{drop: true, uid: uid, gid: gid}, nil
		}
	}
	return account{}, fmt.Errorf("pgserver: running as root, and neither user postgres nor nobody exists to run the server as")
}

// own gives a file to the account.
func (a account) own(path string) error {
	if !a.drop {
		return nil
	}
	return os.Chown(path, a.uid, a.gid)
}

// attributes start a program as the account, in a process group of its own so
// that Ctrl-C in a terminal reaches the test and not the server it still needs
// while cleaning up.
func (a account) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if a.drop {
		attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attr
}
