//go:build unix

package testenv

import "syscall"

// ownGroup puts a daemon's processes into a group, so that all of them can be ended and Ctrl-C reaches none.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
