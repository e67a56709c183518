//go:build !unix

package pgserver

import (
	"fmt"
	"runtime"
	"syscall"
)

type account struct{}

func findAccount() (account, error) {
	return account{}, fmt.Errorf("pgserver: starting a server on %s is not supported", runtime.GOOS)
}

func (account) own(string) error { return nil }

func (account) attributes() *syscall.SysProcAttr { return nil }
