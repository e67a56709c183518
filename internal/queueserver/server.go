package queueserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// ErrNotInstalled says that this machine does not have a server's programs.
var ErrNotInstalled = errors.New("its programs are neither on PATH nor in the usual place")

// startTimeout bounds the start of one server: some take long on a busy machine.
const startTimeout = 2 * time.Minute

// logShown is how much of a server's log an error quotes.
const logShown = 2000

// guardScript runs a program in the background until its standard input ends, which it does at the latest with
// the process that started it. Then all of its process group ends, and its folder goes.
const guardScript = `
"$@" </dev/null &
read -r _
trap '' TERM
kill -TERM 0
for i in 1 2 3 4 5 6 7 8 9 10; do
  kill -0 $! 2>/dev/null || break
  sleep 0.5
done
cd / && rm -rf "$SERVER_DIR"
kill -KILL 0
`

// Server is a server that this process started. It ends at Close, or when the process ends.
type Server struct {
	address string
	dir     string
	port    int
	env     []string
	command []string
	ready   func(ctx context.Context, port int) error

	mu    sync.Mutex
	alive io.Closer     // the guard's standard input; nil while it is killed
	pid   int           // of the guard, which leads the group
	ended chan struct{} // closed when the guard has been waited for
}

// program is how a server is run: its environment and its command, given its folder and two ports that were free.
type program func(dir string, port, other int) (env []string, command []string)

// start runs a program in a folder of its own and returns once ready says so. form makes its address of "host:port".
func start(how program, ready func(ctx context.Context, port int) error, form string) (*Server, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "belfry-queue-")
	if err != nil {
		return nil, fmt.Errorf("queueserver: %w", err)
	}
	s := &Server{address: fmt.Sprintf(form, local(ports[0])), dir: dir, port: ports[0], ready: ready}
	s.env, s.command = how(dir, ports[0], ports[1])
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := s.Start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Address is the server's, as its clients write it. It stays the same when the server is started again.
func (s *Server) Address() string { return s.address }

// Dir is the server's folder, which goes with it.
func (s *Server) Dir() string { return s.dir }

// Start starts a server that was killed, with the data it left, and returns once it serves. On a server that runs it
// does nothing.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alive == nil {
		if err := s.run(); err != nil {
			return fmt.Errorf("queueserver: %w", err)
		}
	}
	for {
		err := s.ready(ctx, s.port)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			said, _ := os.ReadFile(s.logFile())
			return fmt.Errorf("queueserver: %s does not serve: %w: %s", s.command[0], err, said[max(0, len(said)-logShown):])
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// run starts the guard and its program.
func (s *Server) run() error {
	cmd := exec.Command("/bin/sh", append([]string{"-c", guardScript, "sh"}, s.command...)...)
	cmd.Dir = s.dir
	cmd.Env = append(append(os.Environ(), "SERVER_DIR="+s.dir), s.env...)
	cmd.SysProcAttr = ownGroup()
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	alive, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it ends by a signal, as it should
		close(ended)
	}()
	s.alive, s.pid, s.ended = alive, cmd.Process.Pid, ended
	return nil
}

// Kill ends all of the server's processes at once, as a machine that fails would, and keeps its data.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alive == nil {
		return nil
	}
	if err := killGroup(s.pid); err != nil {
		return fmt.Errorf("queueserver: kill: %w", err)
	}
	<-s.ended
	_ = s.alive.Close()
	s.alive = nil
	return s.awaitSilence()
}

// awaitSilence returns when nothing listens any more: the guard may be gone a moment before the others.
func (s *Server) awaitSilence() error {
	for deadline := time.Now().Add(startTimeout); s.listens(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("queueserver: %s goes on after it was killed", s.command[0])
		}
	}
	return nil
}

func (s *Server) listens() bool {
	conn, err := net.Dial("tcp", local(s.port))
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// Close ends the server, lets it close its files, and removes its folder. It returns when all is gone.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alive == nil {
		return os.RemoveAll(s.dir)
	}
	if err := s.alive.Close(); err != nil {
		return fmt.Errorf("queueserver: close: %w", err)
	}
	<-s.ended
	s.alive = nil
	return os.RemoveAll(s.dir)
}

func (s *Server) logFile() string { return filepath.Join(s.dir, "log") }

// freePorts finds ports of 127.0.0.1 that nobody listens on.
func freePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("queueserver: %w", err)
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
