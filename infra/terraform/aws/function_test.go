package aws_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/belfry-dev/belfry/internal/testenv"
)

// patience bounds what a loaded machine may take.
const patience = 3 * time.Minute

// function is one environment of a deployed function.
type function struct {
	turn    sync.Mutex // one invocation at a time
	dir     string     // of its program
	address string
	cmd     *exec.Cmd
	log     testenv.Log
	ended   chan struct{}
}

// start starts the environment, if it has not begun or has died, as it is deployed now.
func (c *cloud) start(ctx context.Context, name string, f *function) error {
	if f.cmd != nil {
		select {
		case <-f.ended:
		default:
			return nil
		}
	}
	is, err := c.deployed(ctx, name)
	if err != nil {
		return err
	}
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp("", "belfry-function-"); err != nil {
			return err
		}
	}
	program, err := unpack(c.code, *is.Configuration.CodeSha256, f.dir)
	if err != nil {
		return err
	}
	environment := map[string]string{}
	if is.Configuration.Environment != nil {
		environment = is.Configuration.Environment.Variables
	}
	if c.adapt != nil {
		c.adapt(environment)
	}
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	f.address, f.ended = ports[0], make(chan struct{})
	f.cmd = exec.Command(c.emulator, "--runtime-interface-emulator-address", ports[0], "--runtime-api-address", ports[1], program)
	f.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + f.dir}, c.environment()...)
	f.cmd.Env = append(f.cmd.Env, "AWS_ACCESS_KEY_ID="+roleKey+path.Base(*is.Configuration.Role), "AWS_LAMBDA_FUNCTION_NAME="+name, fmt.Sprint("AWS_LAMBDA_FUNCTION_TIMEOUT=", *is.Configuration.Timeout))
	for k, v := range environment {
		f.cmd.Env = append(f.cmd.Env, k+"="+v)
	}
	f.cmd.Stdout, f.cmd.Stderr = &f.log, &f.log
	f.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := f.cmd.Start(); err != nil {
		return err
	}
	go func() { defer close(f.ended); _ = f.cmd.Wait() }()
	return f.listen()
}

// listen returns once the emulator does.
func (f *function) listen() error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		conn, err := net.DialTimeout("tcp", f.address, time.Second)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-f.ended:
			return fmt.Errorf("the emulator ended: %s", f.log.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("the emulator does not listen: %s", f.log.String())
}

// invoke sends an event and returns the answer.
func (f *function) invoke(ctx context.Context, event []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+f.address+"/2015-03-31/functions/function/invocations", bytes.NewReader(event))
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

// kill ends the environment: the program, which the emulator starts in a group of its own, before the emulator.
func (f *function) kill() {
	if f.cmd == nil {
		return
	}
	pid := f.cmd.Process.Pid
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range threads {
		children, _ := os.ReadFile(name)
		for child := range strings.FieldsSeq(string(children)) {
			if n, err := strconv.Atoi(child); err == nil {
				_ = syscall.Kill(-n, syscall.SIGKILL)
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	<-f.ended
	_ = os.RemoveAll(f.dir)
}

func (c *cloud) stopFunctions() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, f := range c.functions {
		f.kill()
		if c.t.Failed() {
			c.t.Logf("%s said:\n%s", name, f.log.String())
		}
	}
	c.wakes.Wait()
}

// freePorts returns addresses that were free.
func freePorts(n int) (addresses []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}
