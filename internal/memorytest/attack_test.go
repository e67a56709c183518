package memorytest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	budget = 256 // MiB: the default of BELFRY_REQUEST_MEMORY
	beside = 100 // MiB that the rest of the process may take
	lasts  = 15 * time.Second
)

// TestMemoryUnderAttack makes each attack on a server of its own.
func TestMemoryUnderAttack(t *testing.T) {
	if os.Getenv("BELFRY_TEST_LARGE") != "1" {
		t.Skip("BELFRY_TEST_LARGE=1 measures it")
	}
	for _, attack := range []struct {
		name string
		make func(*server) string
	}{
		{"nothing", func(s *server) string { <-s.lasting().Done(); return "" }},
		{"60 clients that do not read a list", func(s *server) string { return s.doNotRead(60) }},
		{"300 clients that do not read a list", func(s *server) string { return s.doNotRead(300) }},
		{"300 clients that do not read a large job", func(s *server) string { return s.doNotReadAJob(300) }},
		{"300 clients that submit a large job once more, and do not read", func(s *server) string { return s.doNotReadADuplicate(300) }},
		{"300 clients that put off a large job, and do not read", func(s *server) string { return s.doNotReadAChange(300) }},
		{"30 batch uploads that stall", func(s *server) string { return s.stall(30, 29<<20) }},
		{"300 uploads that stall", func(s *server) string { return s.stall(300, 1<<20) }},
		{"20 batches of 29 MiB at once, of large jobs", func(s *server) string { return s.batches(20, 29, 1_000_000) }},
		{"20 batches of 29 MiB at once, of small jobs", func(s *server) string { return s.batches(20, 9000, 3200) }},
	} {
		t.Run(attack.name, func(t *testing.T) {
			s := start(t)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			before := s.peak()
			took := s.probe(ctx)
			answers := attack.make(s)
			stop()
			all := <-took
			p99 := all[len(all)*99/100]
			t.Logf("peak %d MiB (%d before); /healthz p50 %s, p99 %s of %d; %s", s.peak(), before, all[len(all)/2].Round(time.Millisecond/10), p99.Round(time.Millisecond/10), len(all), answers)
			if s.peak() > budget+beside {
				t.Errorf("peak %d MiB, want at most %d + %d", s.peak(), budget, beside)
			}
		})
	}
}

// counts are answers by status; 0 is none.
type counts struct {
	mu sync.Mutex
	n  map[int]int
}

func (c *counts) add(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[int]int{}
	}
	c.n[status]++
}

func (c *counts) String() string { return fmt.Sprintf("answers by status %v", c.n) }

// ask sends a head, and then what write writes, on a connection of its own that reads little, and counts the status of its
// answer as soon as that comes. The rest of the answer is not read for as long as the attack lasts.
func (s *server) ask(c *counts, head string, write func(io.Writer)) {
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		c.add(0)
		return
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: belfry\r\nAuthorization: Bearer %s\r\n", head, s.token)
	attack := s.lasting()
	end, _ := attack.Deadline()
	_ = conn.SetDeadline(end)
	go write(conn)
	status := 0
	if line, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err == nil && len(line) > 12 {
		status, _ = strconv.Atoi(line[9:12])
	}
	c.add(status)
	<-attack.Done()
}

// lasting ends when an attack that begins now does.
func (s *server) lasting() context.Context {
	ctx, cancel := context.WithTimeout(s.t.Context(), lasts)
	s.t.Cleanup(cancel)
	return ctx
}

func (s *server) all(n int, head string, write func(io.Writer)) string {
	var c counts
	var group sync.WaitGroup
	for range n {
		group.Go(func() { s.ask(&c, head, write) })
	}
	group.Wait()
	return c.String()
}

func noBody(w io.Writer) { fmt.Fprint(w, "\r\n") }

func (s *server) doNotRead(n int) string {
	for range 3 {
		s.call(s.token, "POST", "/v1/jobs/batch", batchOf(20, 100_000), nil)
	}
	return s.all(n, "GET /v1/jobs?limit=1000", noBody)
}

func (s *server) doNotReadAJob(n int) string {
	var job struct{ ID string }
	s.call(s.token, "POST", "/v1/jobs", `{"type":"later","delay":"1h","payload":"`+strings.Repeat("x", 1_000_000)+`"}`, &job)
	return s.all(n, "GET /v1/jobs/"+job.ID, noBody)
}

// sending is a request's body.
func sending(body string) func(io.Writer) {
	return func(w io.Writer) {
		fmt.Fprintf(w, "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
}

func (s *server) doNotReadADuplicate(n int) string {
	s.call(s.token, "POST", "/v1/jobs", `{"type":"later","delay":"1h","dedupe_key":"large","payload":"`+strings.Repeat("x", 1_000_000)+`"}`, nil)
	return s.all(n, "POST /v1/jobs", sending(`{"type":"later","dedupe_key":"large"}`))
}

func (s *server) doNotReadAChange(n int) string {
	var job struct{ ID string }
	s.call(s.token, "POST", "/v1/jobs", `{"type":"later","delay":"1h","payload":"`+strings.Repeat("x", 1_000_000)+`"}`, &job)
	return s.all(n, "POST /v1/jobs/"+job.ID+"/reschedule", sending(`{"delay":"2h"}`))
}

// stall sends all of a batch but its last bytes.
func (s *server) stall(n, size int) string {
	body := batchOf(max(1, size/1_000_000), min(size, 1_000_000))
	return s.all(n, "POST /v1/jobs/batch", func(w io.Writer) {
		fmt.Fprintf(w, "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
		_, _ = io.WriteString(w, body[:len(body)-100])
	})
}

// batches sends batches at once, each until it is accepted, and waits for all.
func (s *server) batches(n, jobs, payload int) string {
	body := batchOf(jobs, payload)
	var c counts
	var group sync.WaitGroup
	start := time.Now()
	for i := range n {
		group.Go(func() {
			for status := 503; status == 503 && time.Since(start) < 10*time.Minute; {
				r, err := http.NewRequestWithContext(s.t.Context(), "POST", "http://"+s.address+"/v1/jobs/batch", strings.NewReader(body))
				if err != nil {
					s.t.Error(err)
					return
				}
				r.Header.Set("Authorization", "Bearer "+s.token)
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Idempotency-Key", fmt.Sprint("batch-", i))
				res, err := http.DefaultClient.Do(r)
				status = 503
				if err == nil {
					status = res.StatusCode
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
				if c.add(status); status == 503 {
					<-time.After(2 * time.Second) // as Retry-After says
				}
			}
		})
	}
	group.Wait()
	if c.n[200] != n {
		s.t.Errorf("%d batches of %d were accepted", c.n[200], n)
	}
	return fmt.Sprintf("%s in %s", c.String(), time.Since(start).Round(time.Second/10))
}

// batchOf is a batch of jobs that are not due.
func batchOf(jobs, payload int) string {
	job := `{"type":"later","delay":"1h","payload":"` + strings.Repeat("x", payload) + `"}`
	return `{"jobs":[` + strings.Repeat(job+",", jobs-1) + job + `]}`
}
