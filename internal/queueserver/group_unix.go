//go:build unix

package queueserver

import "syscall"

// ownGroup puts a server's processes into a group, so that all of them can be ended and Ctrl-C reaches none.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a group's processes at once.
func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }
