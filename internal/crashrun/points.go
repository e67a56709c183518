package main

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// The named points. At each a process is killed between two steps that must not be torn apart.
const (
	atPublish = "publish" // tick: between commit and publish
	atFinish  = "finish"  // worker: between start and finish
	atReply   = "reply"   // api: between commit and reply
)

// point kills its own process at the nth pass of one named point.
type point struct {
	name string
	left atomic.Int64
	w    *witness
}

// parsePoint reads "name:n"; "" arms nothing.
func parsePoint(text string, w *witness) (*point, error) {
	p := &point{w: w}
	if text == "" {
		return p, nil
	}
	name, count, ok := strings.Cut(text, ":")
	n, err := strconv.ParseInt(count, 10, 64)
	if !ok || err != nil || (name != atPublish && name != atFinish && name != atReply) {
		return nil, fmt.Errorf("point %q: want publish:N, finish:N or reply:N", text)
	}
	p.name = name
	p.left.Store(n)
	return p, nil
}

// pass is called at each named point; refs are what is in hand there.
func (p *point) pass(name string, refs ...core.Ref) {
	if p.name != name || p.left.Add(-1) != 0 {
		return
	}
	lines := []string{p.w.line("point", name)}
	for _, r := range refs {
		lines = append(lines, p.w.line("in_hand", name, r.ID, r.Token))
	}
	p.w.sayAll(lines)
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	time.Sleep(time.Hour) // never gets past: the signal is on its way
}
