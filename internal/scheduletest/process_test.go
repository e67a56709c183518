package scheduletest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is a tick process that is told what to do line by line.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr *strings.Builder
}

func startProcess(t *testing.T, where string, retention time.Duration) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0]), stderr: new(strings.Builder)}
	p.cmd.Env = append(os.Environ(), childVariable+"="+where, retentionVariable+"="+retention.String())
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.cmd.Stderr = p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.out = in, bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// order is what a process is to do.
type order struct {
	at     time.Time
	finish bool
	point  string // where it kills itself. "-" means nowhere
	left   int    // at which passage
	kill   time.Duration
}

// obey sends an order and waits for its end: the jobs made, or that the process was killed. Offset is from the true time to
// that of the order, where the store's clock goes on by itself.
func (p *process) obey(ctx context.Context, o order, offset time.Duration) (made int, killed bool, err error) {
	if _, err := fmt.Fprintln(p.in, o.at.UnixMicro(), offset.Microseconds(), o.finish, o.point, o.left); err != nil {
		return 0, false, err
	}
	spared := func() bool { return true }
	if o.kill > 0 {
		late, cancel := context.WithTimeout(ctx, o.kill)
		defer cancel()
		spared = context.AfterFunc(late, func() { _ = p.cmd.Process.Kill() })
	}
	if p.out.Scan() {
		if made, err = strconv.Atoi(p.out.Text()); err != nil || spared() {
			return made, false, err
		}
		_ = p.cmd.Wait() // killed after its answer
		return made, true, nil
	}
	spared()
	err = p.cmd.Wait()
	if state := p.cmd.ProcessState; state != nil {
		if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() && (o.kill > 0 || o.point != "-") {
			return 0, true, nil
		}
	}
	return 0, false, fmt.Errorf("the process ended by itself: %w\n%s", err, p.stderr)
}

// close ends a process that waits for an order.
func (p *process) close() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

// randomOrder kills in about one of n passes: at a point, or at any time.
func randomOrder(rng *rand.Rand, at time.Time, n int) order {
	o := order{at: at, finish: rng.IntN(3) > 0, point: "-"}
	switch rng.IntN(2 * n) {
	case 0:
		o.point, o.left = []string{dieBefore, dieAfter, dieAfter, dieCancel, dieTick}[rng.IntN(5)], rng.IntN(2)
	case 1:
		o.kill = time.Duration(rng.Int64N(int64(12 * time.Millisecond)))
	}
	return o
}
