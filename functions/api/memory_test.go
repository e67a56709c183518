package api_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/functions/api"
)

const mib = 1 << 20

const (
	smallMemory  = 32 * mib
	callerMemory = smallMemory/2 + 64<<10 // of one caller, with the problems that it is told
)

func withSmallMemory(o *api.Options) {
	o.Limits.Memory, o.Limits.MemoryWait, o.Limits.BodyTime = smallMemory, 20*time.Millisecond, time.Minute
}

// withSpool has an API keep bodies and answers in a directory, where nothing can be seen of them.
func withSpool(t *testing.T) func(*api.Options) {
	return func(o *api.Options) {
		o.Spool = t.TempDir()
		t.Cleanup(func() {
			if files, err := os.ReadDir(o.Spool); err != nil || len(files) > 0 {
				t.Errorf("left on disk: %v, %v", files, err)
			}
		})
	}
}

// unread is a caller that takes the head of an answer and nothing else until it goes.
type unread struct {
	header http.Header
	status chan int
	gone   chan struct{}
}

func newUnread(gone chan struct{}) *unread { return &unread{http.Header{}, make(chan int, 1), gone} }

func (u *unread) Header() http.Header    { return u.header }
func (u *unread) WriteHeader(status int) { u.status <- status }
func (u *unread) Write([]byte) (int, error) {
	<-u.gone
	return 0, io.ErrClosedPipe
}

// crowd is many callers that stay until they are sent away.
type crowd struct {
	b    *bench
	gone chan struct{}
	all  sync.WaitGroup
}

func newCrowd(b *bench) *crowd {
	c := &crowd{b: b, gone: make(chan struct{})}
	b.t.Cleanup(c.leave)
	return c
}

// ask has one more caller ask from an address, and returns the status of its answer once that begins.
func (c *crowd) ask(address, method, target string, body io.Reader) <-chan int {
	w := newUnread(c.gone)
	r := httptest.NewRequestWithContext(c.b.t.Context(), method, target, body)
	r.RemoteAddr = address + ":1234"
	r.Header.Set("Content-Type", "application/json")
	c.all.Go(func() { c.b.api.ServeHTTP(w, r) })
	return w.status
}

func (c *crowd) leave() {
	select {
	case <-c.gone:
	default:
		close(c.gone)
	}
	c.all.Wait()
}

// waitHeld waits until the memory that requests hold is as wanted.
func (b *bench) waitHeld(want func(int64) bool) {
	b.t.Helper()
	beat := time.NewTicker(time.Millisecond)
	defer beat.Stop()
	for end := time.Now().Add(20 * time.Second); !want(b.api.HeldMemory()); <-beat.C {
		if time.Now().After(end) {
			b.t.Fatalf("requests hold %d bytes", b.api.HeldMemory())
		}
	}
}

// plantLarge submits jobs of 100 kB.
func (b *bench) plantLarge(n int) {
	b.t.Helper()
	job := `{"type":"echo","delay":"1h","payload":"` + strings.Repeat("x", 100_000) + `"}`
	b.do("POST", "/v1/jobs/batch", `{"jobs":[`+strings.Repeat(job+",", n-1)+job+`]}`).want(b.t, http.StatusOK)
}

// Callers that do not read their answers hold no more than the budget, each no more than half, and the others are answered.
// Without a disk an answer is held until it is taken; on disk it holds nothing.
func TestAnswersThatNobodyReads(t *testing.T) {
	for name, disk := range map[string]bool{"in memory": false, "on disk": true} {
		t.Run(name, func(t *testing.T) {
			options := []func(*api.Options){withSmallMemory}
			if disk {
				options = append(options, withSpool(t), func(o *api.Options) { o.Limits.MemoryWait = time.Minute })
			}
			b := newBench(t, options...)
			b.plantLarge(30)
			c, statuses := newCrowd(b), map[int]int{}
			for range 20 {
				statuses[<-c.ask("198.51.100.1", "GET", "/v1/jobs?limit=1000", nil)]++
				if held := b.api.HeldMemory(); held > callerMemory {
					t.Fatalf("one caller holds %d bytes", held)
				}
			}
			if disk {
				if b.waitHeld(func(n int64) bool { return n == 0 }); statuses[200] != 20 {
					t.Errorf("answers by status: %v", statuses)
				}
			} else if b.waitHeld(func(n int64) bool { return n > 4*mib }); statuses[200] < 2 || statuses[503] < 10 {
				t.Errorf("answers by status: %v", statuses)
			}
			if status := <-c.ask("198.51.100.2", "GET", "/v1/jobs?limit=1000", nil); status != 200 {
				t.Errorf("another caller: %d", status)
			}
			b.do("POST", "/v1/jobs", `{"type":"echo"}`).want(t, http.StatusCreated)
			c.leave()
			b.waitHeld(func(n int64) bool { return n == 0 })
		})
	}
}

// Uploads that stall hold what has come of them: in memory no more than the budget, on disk next to nothing.
func TestUploadsThatStall(t *testing.T) {
	for name, disk := range map[string]bool{"in memory": false, "on disk": true} {
		t.Run(name, func(t *testing.T) {
			options := []func(*api.Options){withSmallMemory}
			if disk {
				options = append(options, withSpool(t))
			}
			b := newBench(t, options...)
			c, sent, refused := newCrowd(b), []*io.PipeWriter{}, 0
			for range 40 {
				from, to := io.Pipe()
				status := c.ask("198.51.100.1", "POST", "/v1/jobs/batch", from)
				t.Cleanup(func() { _ = to.CloseWithError(io.ErrUnexpectedEOF) })
				sent = append(sent, to)
				arrived := make(chan error, 1)
				go func() {
					_, err := io.Copy(to, bytes.NewReader(bytes.Repeat([]byte(" "), 2*mib)))
					arrived <- err
				}()
				select {
				case <-arrived:
				case got := <-status:
					if refused++; got != 503 {
						t.Errorf("status %d", got)
					}
				}
				if held := b.api.HeldMemory(); held > callerMemory || disk && held > mib {
					t.Fatalf("one caller holds %d bytes", held)
				}
			}
			if disk == (refused > 10) {
				t.Errorf("%d of 40 were refused", refused)
			}
			b.do("POST", "/v1/jobs", `{"type":"echo"}`).want(t, http.StatusCreated)
			for _, to := range sent {
				_ = to.CloseWithError(io.ErrUnexpectedEOF)
			}
			c.leave()
			b.waitHeld(func(n int64) bool { return n == 0 })
		})
	}
}

// timeForm is a time of a job.
var timeForm = regexp.MustCompile(`"20[0-9-]+T[0-9:.]+Z"`)

// What was on disk is as what was in memory: bodies, answers, and the faults told of them; also where the disk takes nothing.
func TestLargeBodiesAndAnswersAreTheSameOnDisk(t *testing.T) {
	job := `{"type":"echo","delay":"1h","payload":"` + strings.Repeat("é", 60_000) + `"}`
	batch := `{"jobs":[` + strings.Repeat(job+",", 29) + job + `]}`
	var first []string
	for i, options := range [][]func(*api.Options){
		{}, {withSpool(t)}, {func(o *api.Options) { o.Spool = t.TempDir() + "/is-not-there" }},
	} {
		b := newBench(t, options...)
		var all []string
		for _, length := range []int64{int64(len(batch)), -1} {
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/jobs/batch", strings.NewReader(batch))
			r.Header.Set("Content-Type", "application/json")
			r.ContentLength = length
			w := httptest.NewRecorder()
			b.api.ServeHTTP(w, r)
			all = append(all, fmt.Sprint(w.Code), w.Header().Get("Content-Type"), w.Header().Get("Content-Length"), w.Body.String())
		}
		for _, target := range []string{"/v1/jobs?limit=40", "/v1/jobs?limit=5", "/v1/jobs/1"} {
			got := b.do("GET", target, "").want(t, http.StatusOK)
			all = append(all, got.header.Get("Content-Length"), got.body)
		}
		bad := b.do("POST", "/v1/jobs/batch", batch+"x").want(t, http.StatusBadRequest)
		all = append(all, bad.body)
		for j := range all {
			all[j] = timeForm.ReplaceAllString(all[j], `"time"`)
		}
		if first == nil {
			first = all
		}
		if !slices.Equal(all, first) {
			t.Errorf("%d: not as in memory", i)
		}
		if b.api.HeldMemory() != 0 {
			t.Errorf("%d: requests hold %d bytes", i, b.api.HeldMemory())
		}
	}
}
