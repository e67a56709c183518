package pulltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	coretick "github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/tick"
	"github.com/belfry-dev/belfry/internal/queues"
	"github.com/belfry-dev/belfry/internal/queueserver"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// patience bounds what a loaded machine may take.
const patience = 2 * time.Minute

var programs = struct {
	sync.Mutex
	dir   string
	paths map[string]string
}{paths: map[string]string{}}

func TestMain(m *testing.M) {
	code := m.Run()
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir)
	}
	os.Exit(code)
}

// program builds functions/worker/NAME, once.
func program(t *testing.T, name string) string {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	if path := programs.paths[name]; path != "" {
		return path
	}
	if programs.dir == "" {
		dir, err := os.MkdirTemp("", "belfry-pull-") //nolint:usetesting // later tests run it too
		if err != nil {
			t.Fatal(err)
		}
		programs.dir = dir
	}
	path := filepath.Join(programs.dir, name)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./functions/worker/"+name)
	build.Dir, build.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	programs.paths[name] = path
	return path
}

// stage is a database with Belfry's schema and queues that a tick fills.
type stage struct {
	database string
	store    *postgres.Store
	urls     map[core.Priority]string
	env      []string // of programs
}

// newStage makes the database. The queues are said by who knows them.
func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{database: testenv.Postgres(t), urls: map[core.Priority]string{}}
	if err := postgres.Migrate(t.Context(), s.database); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), s.database, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s.store = store
	return s
}

// install makes the queues on an emulator of this test alone.
func (s *stage) install(t *testing.T, kind string) *queues.Installation {
	t.Helper()
	i, err := queues.Install(t.Context(), kind)
	if errors.Is(err, queueserver.ErrNotInstalled) {
		testenv.NotInstalled(t, kind, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Server.Close(); err != nil {
			t.Error(err)
		}
	})
	s.urls, s.env = i.URLs, i.Environment()
	for _, kv := range s.env {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "AWS_") {
			if err := os.Setenv(name, value); err != nil { //nolint:usetesting // the same for all tests, which run beside each other
				t.Fatal(err)
			}
		}
	}
	return i
}

// tick runs a scheduler on the queues until the test ends, or stop is called.
func (s *stage) tick(t *testing.T, concurrency int) (stop func()) {
	t.Helper()
	queue, err := queues.Open(t.Context(), s.urls, 0)
	if err != nil {
		t.Fatal(err)
	}
	o := tick.Options{
		Store: s.store, Queue: queue, Holder: "tick", Functions: true, Log: slog.New(slog.DiscardHandler), Concurrency: map[core.Priority]int{},
		Settings: boot.Settings{Tick: 200 * time.Millisecond, BucketLease: 10 * time.Second, Window: coretick.WindowCeiling},
	}
	for _, p := range core.Priorities {
		o.Concurrency[p] = concurrency
	}
	f, err := tick.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := f.Run(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return stop
}

func (s *stage) submit(t *testing.T, jobs ...core.NewJob) []int64 {
	t.Helper()
	answers, err := s.store.Submit(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int64, len(answers))
	for i, a := range answers {
		ids[i] = a.ID
	}
	return ids
}

func job(typ, payload string, p core.Priority) core.NewJob {
	return core.NewJob{Type: typ, Payload: json.RawMessage(payload), MaxAttempts: 5, Priority: p}
}

// until waits for a job to be as it should.
func (s *stage) until(t *testing.T, id int64, as func(core.Job) bool) core.Job {
	t.Helper()
	var last core.Job
	eventually(t, func() bool {
		found, err := s.store.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		last = found
		return as(found)
	}, func() string { return "the job stays " + last.Status.String() })
	return last
}

func is(status core.Status) func(core.Job) bool {
	return func(j core.Job) bool { return j.Status == status }
}

func eventually(t *testing.T, done func() bool, else_ func() string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); {
		if time.Now().After(deadline) {
			t.Fatal(else_())
		}
		<-time.After(20 * time.Millisecond)
	}
}

// worker is a program at work.
type worker struct {
	path   string
	env    []string
	cmd    *exec.Cmd
	log    *bytes.Buffer
	ended  chan struct{}
	result error
}

// start runs functions/worker/NAME on the stage until the test ends.
func (s *stage) start(t *testing.T, name string, env ...string) *worker {
	t.Helper()
	w := &worker{path: program(t, name), log: &bytes.Buffer{}, ended: make(chan struct{})}
	w.env = append(append(os.Environ(), s.env...), "BELFRY_DATABASE_URL="+s.database, "BELFRY_DATABASE_POOL=4", "BELFRY_HEALTH_ADDR="+freeAddress(t), "BELFRY_STOP_GRACE=1s")
	for p, url := range s.urls {
		w.env = append(w.env, "BELFRY_QUEUE_"+strings.ToUpper(p.String())+"_URL="+url)
	}
	w.env = append(w.env, env...)
	w.cmd = exec.Command(w.path)
	w.cmd.Env, w.cmd.Stdout, w.cmd.Stderr = w.env, w.log, w.log
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(w.ended); w.result = w.cmd.Wait() }()
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		<-w.ended
		if t.Failed() {
			t.Logf("%s said:\n%s", name, w.log)
		}
	})
	eventually(t, func() bool {
		select {
		case <-w.ended:
			t.Fatalf("%s ended: %v: %s", name, w.result, w.log)
		default:
		}
		return w.health(t) == nil
	}, func() string { return name + " is not well" })
	return w
}

// health asks the worker as its container would.
func (w *worker) health(t *testing.T) error {
	ask := exec.CommandContext(t.Context(), w.path, "health")
	ask.Env = w.env
	return ask.Run()
}

// stop tells the worker to stop, as a platform does, and waits until it has.
func (w *worker) stop(t *testing.T) {
	t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.ended:
	case <-time.After(patience):
		t.Fatal("it does not stop")
	}
	if w.result != nil {
		t.Errorf("it stopped with %v", w.result)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// refused runs a program that is to end at once with a reason.
func refused(t *testing.T, s *stage, name, setting, want string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t, name))
	cmd.Env = append(os.Environ(), "BELFRY_DATABASE_URL="+s.database, "BELFRY_HEALTH_ADDR="+freeAddress(t), setting)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), want) {
		t.Errorf("it ended with %v and said %q, want %q", err, out, want)
	}
}
