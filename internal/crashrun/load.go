package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// load submits jobs until enough are accepted, at an even pace over span, and cancels a few.
type load struct {
	url  string
	w    *witness
	http *http.Client
	span time.Duration

	mu      sync.Mutex
	jobs    map[int64]submitted
	answers []time.Duration // how long submits took that were answered
	lost    atomic.Int64    // requests without an answer: their jobs are not accepted, whatever the table holds
}

// submitted is an accepted job as it was sent.
type submitted struct {
	payload string
	key     string
	runAt   time.Time // as the answer said
	cancel  int       // status of the answer to cancel
}

func newLoad(url string, w *witness, span time.Duration) *load {
	return &load{url: url, w: w, span: span, jobs: map[int64]submitted{}, http: &http.Client{Timeout: 10 * time.Second}}
}

// run submits until n distinct jobs are accepted, from eight callers.
func (l *load) run(ctx context.Context, seed uint64, n int) {
	var started atomic.Int64
	begin := time.Now()
	var wg sync.WaitGroup
	for caller := range 8 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(caller)))
			for ctx.Err() == nil {
				i := started.Add(1)
				if due := begin.Add(time.Duration(float64(i) / float64(n) * float64(l.span))); time.Until(due) > 0 {
					time.Sleep(time.Until(due))
				}
				l.mu.Lock()
				enough := len(l.jobs) >= n
				l.mu.Unlock()
				if enough {
					return
				}
				l.one(ctx, rnd, i)
			}
		})
	}
	wg.Wait()
}

// one submits one job, and now and then cancels it at once or a little later.
func (l *load) one(ctx context.Context, rnd *rand.Rand, i int64) {
	payload := fmt.Sprintf(`{"n": %d, "ms":%d,"times":%d, "big":9007199254740993,"e":1e5}`, i, duration(rnd), times(rnd))
	doc := fmt.Sprintf(`"type":%q,"payload":%s,"max_attempts":30,"backoff":["200ms","1s"],"priority":%q`,
		typeOf(rnd), payload, []string{"critical", "default", "bulk"}[rnd.IntN(3)])
	key := ""
	if rnd.IntN(20) == 0 {
		key = fmt.Sprintf("key-%d", rnd.IntN(40))
		doc += fmt.Sprintf(`,"dedupe_key":%q`, key)
	}
	cancel := rnd.IntN(100)
	if cancel < 2 || rnd.IntN(3) == 0 {
		doc += fmt.Sprintf(`,"delay":"%dms"`, rnd.IntN(4000))
	}
	id, ok := l.submit(ctx, payload, doc, key)
	if !ok {
		wait(ctx, 100*time.Millisecond)
		return
	}
	if cancel < 4 && id != 0 {
		time.Sleep(time.Duration(rnd.IntN(1500)) * time.Millisecond)
		l.cancel(ctx, id)
	}
}

// submit submits one job and reports whether it was answered. The id is 0 unless it is a new one.
func (l *load) submit(ctx context.Context, payload, doc, key string) (id int64, ok bool) {
	var out struct {
		ID        string    `json:"id"`
		RunAt     time.Time `json:"run_at"`
		Duplicate bool      `json:"duplicate"`
	}
	begun := time.Now()
	code, err := l.post(ctx, "/v1/jobs", "{"+doc+"}", &out)
	if err != nil || (code != http.StatusCreated && code != http.StatusOK) {
		l.lost.Add(1)
		return 0, false
	}
	_, _ = fmt.Sscan(out.ID, &id)
	l.w.say("accepted", id, code)
	l.mu.Lock()
	defer l.mu.Unlock()
	if key != heldKey {
		l.answers = append(l.answers, time.Since(begun))
	}
	if _, known := l.jobs[id]; known || out.Duplicate {
		return 0, true
	}
	l.jobs[id] = submitted{payload: payload, key: key, runAt: out.RunAt}
	return id, true
}

func (l *load) cancel(ctx context.Context, id int64) {
	for range 20 {
		code, err := l.post(ctx, fmt.Sprintf("/v1/jobs/%d/cancel", id), "", nil)
		if err == nil && code < 500 {
			l.w.say("cancel", id, code)
			l.mu.Lock()
			j := l.jobs[id]
			j.cancel = code
			l.jobs[id] = j
			l.mu.Unlock()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(250 * time.Millisecond):
		}
	}
}

func (l *load) post(ctx context.Context, path, body string, into any) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url+path, bytes.NewBufferString(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := l.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode == http.StatusUnprocessableEntity || resp.StatusCode == http.StatusBadRequest {
		panic(fmt.Sprintf("the load is refused: %s", text)) // a fault of this program, not of the run
	}
	if into != nil && resp.StatusCode < 300 {
		err = json.Unmarshal(text, into)
	}
	return resp.StatusCode, err
}

// duration is how long a handler runs, in milliseconds: mostly next to nothing, sometimes past a heartbeat.
func duration(rnd *rand.Rand) int {
	switch r := rnd.IntN(100); {
	case r < 80:
		return rnd.IntN(20)
	case r < 98:
		return rnd.IntN(500)
	}
	return 1000 + rnd.IntN(5000)
}

// typeOf is mostly what every worker has a handler for.
func typeOf(rnd *rand.Rand) string {
	return []string{"work", "work", "work", "work", "work", "work", "work", "work", "odd", "even"}[rnd.IntN(10)]
}

// times is how many attempts fail.
func times(rnd *rand.Rand) int {
	if rnd.IntN(20) == 0 {
		return 1 + rnd.IntN(2)
	}
	return 0
}
