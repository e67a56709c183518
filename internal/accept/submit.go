package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// job is the part of a job's document that is checked.
type job struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Status    string          `json:"status"`
	Attempts  int             `json:"attempts"`
	Payload   json.RawMessage `json:"payload"`
	Duplicate bool            `json:"duplicate"`
	RunAt     time.Time       `json:"run_at"`
	StartedAt *time.Time      `json:"started_at"`
	Error     *struct {
		Status int    `json:"status"`
		Detail string `json:"detail"`
	} `json:"error"`
}

// accepted is what the server answered for one line.
type accepted struct {
	id        string
	code      int
	duplicate bool
	cancel    int // status of the answer to cancel; 0 when none was sent
}

// client sends the lines.
type client struct {
	url     string
	http    *http.Client
	callers int

	mu      sync.Mutex
	answers map[int]accepted
}

func newClient(url string, callers int) *client {
	return &client{url: url, callers: callers, answers: map[int]accepted{},
		http: &http.Client{Timeout: 90 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 2 * callers}}}
}

// call sends one request and decodes a JSON answer of any status.
func (c *client) call(ctx context.Context, method, path string, body []byte, into any) (int, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	if into != nil && resp.StatusCode < 300 {
		if err := json.Unmarshal(text, into); err != nil {
			return 0, fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	if resp.StatusCode >= 400 && resp.StatusCode != http.StatusConflict {
		return resp.StatusCode, fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, text)
	}
	return resp.StatusCode, nil
}

func (c *client) note(n int, a accepted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[n] = a
}

// submit sends all lines: singles by many callers, the rest in batches of a hundred. A duplicate is sent
// after its original was answered. Cancels follow their job at once (early) or once it runs.
func (c *client) submit(ctx context.Context, lines []line, progress func(int)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(c.callers)
	var batch []line
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if !l.Single {
			if batch = append(batch, l); len(batch) == 100 {
				full := batch
				batch = nil
				g.Go(func() error { return c.sendBatch(ctx, full, progress) })
			}
			continue
		}
		pair := []line{l}
		if l.Kind == original && i+1 < len(lines) {
			i++
			pair = append(pair, lines[i])
		}
		g.Go(func() error {
			for _, l := range pair {
				if err := c.send(ctx, l); err != nil {
					return err
				}
				progress(1)
			}
			return nil
		})
	}
	if len(batch) > 0 {
		g.Go(func() error { return c.sendBatch(ctx, batch, progress) })
	}
	return g.Wait()
}

func (c *client) send(ctx context.Context, l line) error {
	var j job
	code, err := c.call(ctx, http.MethodPost, "/v1/jobs", l.Job, &j)
	if err != nil {
		return fmt.Errorf("line %d: %w", l.N, err)
	}
	a := accepted{id: j.ID, code: code, duplicate: j.Duplicate}
	if l.Kind == cancelEarly {
		if a.cancel, err = c.call(ctx, http.MethodPost, "/v1/jobs/"+j.ID+"/cancel", nil, nil); err != nil {
			return fmt.Errorf("line %d: %w", l.N, err)
		}
	}
	c.note(l.N, a)
	return nil
}

func (c *client) sendBatch(ctx context.Context, lines []line, progress func(int)) error {
	body := []byte(`{"jobs":[`)
	for i, l := range lines {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, l.Job...)
	}
	body = append(body, "]}"...)
	var out struct {
		Items []job `json:"items"`
	}
	code, err := c.call(ctx, http.MethodPost, "/v1/jobs/batch", body, &out)
	if err != nil {
		return fmt.Errorf("batch from line %d: %w", lines[0].N, err)
	}
	if len(out.Items) != len(lines) {
		return fmt.Errorf("batch from line %d: %d items for %d jobs", lines[0].N, len(out.Items), len(lines))
	}
	for i, l := range lines {
		if out.Items[i].Error != nil {
			return fmt.Errorf("line %d: %+v", l.N, *out.Items[i].Error)
		}
		c.note(l.N, accepted{id: out.Items[i].ID, code: code, duplicate: out.Items[i].Duplicate})
	}
	progress(len(lines))
	return nil
}

// cancelRunning waits until each of the lines meant for it runs, and cancels it then.
func (c *client) cancelRunning(ctx context.Context, lines []line) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(c.callers)
	for _, l := range lines {
		if l.Kind != cancelRunning {
			continue
		}
		g.Go(func() error {
			c.mu.Lock()
			a := c.answers[l.N]
			c.mu.Unlock()
			for {
				var j job
				if _, err := c.call(ctx, http.MethodGet, "/v1/jobs/"+a.id, nil, &j); err != nil {
					return err
				}
				if j.Status != "scheduled" && j.Status != "queued" {
					break
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(100 * time.Millisecond):
				}
			}
			var err error
			if a.cancel, err = c.call(ctx, http.MethodPost, "/v1/jobs/"+a.id+"/cancel", nil, nil); err != nil {
				return err
			}
			c.note(l.N, a)
			return nil
		})
	}
	return g.Wait()
}
