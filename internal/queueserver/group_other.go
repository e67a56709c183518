//go:build !unix

package queueserver

import (
	"os"
	"syscall"
)

// ownGroup has nothing to say where there are no process groups.
func ownGroup() *syscall.SysProcAttr { return nil }

// killGroup ends one process where there are no process groups.
func killGroup(pid int) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return process.Kill()
}
