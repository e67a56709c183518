package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// process is one role, kept alive: whenever its child dies it is started again.
type process struct {
	name string
	role string
	args []string
	env  []string
	w    *witness
	log  *os.File

	mu     sync.Mutex
	cmd    *exec.Cmd
	points []string // named points to die at: the child is armed with the first, until one has died there
	killed bool     // this child was killed from here, so it did not die at its point
}

// keep starts the child and starts it again until ctx ends; then it asks the child to stop and waits.
func (p *process) keep(ctx context.Context) error {
	for ctx.Err() == nil {
		done, err := p.start()
		if err != nil {
			return err
		}
		select {
		case <-done:
			p.buried()
			p.w.say("died", p.name, p.cmd.Process.Pid)
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		case <-ctx.Done():
			p.signal(syscall.SIGCONT)
			p.signal(syscall.SIGINT)
			select {
			case <-done:
			case <-time.After(15 * time.Second):
				p.signal(syscall.SIGKILL)
				<-done
				return fmt.Errorf("%s did not stop within 15 s", p.name)
			}
		}
	}
	return nil
}

func (p *process) start() (<-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	point := ""
	if len(p.points) > 0 {
		point = p.points[0]
	}
	p.cmd = exec.Command(self, append([]string{"node", "-role", p.role, "-name", p.name, "-point", point}, p.args...)...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.Env = append(os.Environ(), p.env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.killed = false
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.w.say("started", p.name, p.cmd.Process.Pid)
	done := make(chan struct{})
	cmd := p.cmd
	go func() { _ = cmd.Wait(); close(done) }()
	return done, nil
}

func (p *process) signal(s syscall.Signal) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil || p.cmd.Process == nil {
		return 0
	}
	_ = p.cmd.Process.Signal(s)
	return p.cmd.Process.Pid
}

// buried notes that a child died at its point: it was killed, and not from here. One that ends by itself, such as a tick
// that finds no queue, did not get there.
func (p *process) buried() {
	p.mu.Lock()
	defer p.mu.Unlock()
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !p.killed && ok && status.Signal() == syscall.SIGKILL && len(p.points) > 0 {
		p.points = p.points[1:]
	}
}

// arm makes a child to come kill itself at a named point; the present one is killed.
func (p *process) arm(point string) {
	p.mu.Lock()
	p.points = append(p.points, point)
	p.mu.Unlock()
	p.kill()
}

func (p *process) kill() {
	p.mu.Lock()
	p.killed = true
	p.mu.Unlock()
	p.w.say("kill", p.name, p.signal(syscall.SIGKILL))
}

// freeze stops the child for d, longer than its leases, and continues it.
func (p *process) freeze(ctx context.Context, d time.Duration) {
	p.w.say("stop", p.name, p.signal(syscall.SIGSTOP))
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	p.w.say("cont", p.name, p.signal(syscall.SIGCONT))
}
