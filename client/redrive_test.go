package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// bury creates n dead letters and returns their ids.
func bury(t *testing.T, c *client.Client, n int) (ids []string) {
	t.Helper()
	for range n {
		job, err := c.Submit(t.Context(), client.NewJob{Type: "fail", Payload: map[string]bool{"permanent": true}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(t.Context(), job.ID); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, job.ID)
	}
	return ids
}

func TestDeadGroupsAndCount(t *testing.T) {
	c := newClient(t, nodetest.Start(t, "all"), nil)
	bury(t, c, 3)
	groups, err := c.DeadGroups(t.Context(), client.DeadFilter{Type: "fail"}, 5)
	if err != nil || len(groups.Items) != 1 || groups.Capped || groups.Items[0].Count != 3 || groups.Items[0].Type != "fail" || groups.Items[0].LastFailed.IsZero() {
		t.Fatalf("%+v, %v", groups, err)
	}
	group := groups.Items[0].ErrorGroup
	for want, f := range map[int]client.DeadFilter{3: {ErrorGroup: group}, 0: {ErrorGroup: "0123456789abcdef"}} {
		if n, capped, err := c.CountDead(t.Context(), f, ""); err != nil || n != want || capped {
			t.Errorf("%+v: %d, %t, %v", f, n, capped, err)
		}
		if listed := len(slices.Collect(func(yield func(string) bool) {
			for job, err := range c.DeadLetters(t.Context(), f) {
				if err != nil || !yield(job.ID) {
					return
				}
			}
		})); listed != want {
			t.Errorf("%+v: listed %d", f, listed)
		}
	}
	if _, err := c.DeadGroups(t.Context(), client.DeadFilter{ErrorGroup: "x"}, 0); !errors.Is(err, client.ErrInvalid) {
		t.Errorf("a made-up group: %v", err)
	}
}

// A redrive that ended early can be continued at the same rate.
func TestRedriveAllGoesOn(t *testing.T) {
	address := nodetest.Start(t, "all")
	ids := bury(t, newClient(t, address, nil), 4)
	from := time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC)
	answers := 0
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c := newClient(t, address, tripper(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/redrive") {
			if answers++; answers > 1 {
				return nil, errors.New("no line")
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			text := strings.Replace(string(body), `"limit":1000`, `"limit":3`, 1) // as if a step were 3
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		}
		return transport.RoundTrip(r)
	}))
	told := 0
	sum, err := c.RedriveAll(t.Context(), client.DeadFilter{All: true}, client.RedriveOptions{Rate: 2, From: from, Progress: func(r client.Redriven) { told += r.Redriven }})
	if err == nil || sum.Redriven != 3 || sum.Remaining != 1 || sum.After != ids[2] || !sum.NextRunAt.Equal(from.Add(1500*time.Millisecond)) || told != 3 {
		t.Fatalf("%+v, %v, told %d", sum, err, told)
	}
	c = newClient(t, address, nil)
	rest, err := c.RedriveAll(t.Context(), client.DeadFilter{All: true}, client.RedriveOptions{Rate: 2, From: sum.NextRunAt, After: sum.After})
	if err != nil || rest.Redriven != 1 || rest.Remaining != 0 || rest.After != ids[3] {
		t.Fatalf("%+v, %v", rest, err)
	}
	for i, id := range ids {
		job, err := c.Get(t.Context(), id)
		if want := from.Add(time.Duration(i) * 500 * time.Millisecond); err != nil || !job.RunAt.Equal(want) {
			t.Errorf("job %d is due %s, want %s, %v", i, job.RunAt, want, err)
		}
	}
}

func TestRedriveAllStopsAtTheLimit(t *testing.T) {
	c := newClient(t, nodetest.Start(t, "all"), nil)
	bury(t, c, 3)
	sum, err := c.RedriveAll(t.Context(), client.DeadFilter{Type: "fail"}, client.RedriveOptions{Limit: 2, From: time.Now().Add(time.Hour)})
	if err != nil || sum.Redriven != 2 || sum.Remaining != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// Short or empty pages do not end the list.
func TestListGoesPastShortPages(t *testing.T) {
	pages := []string{`{"items":[],"next_cursor":"b"}`, `{"items":[{"id":"7"}],"next_cursor":"c"}`, `{"items":[],"next_cursor":"d"}`, `{"items":[{"id":"3"}],"next_cursor":""}`}
	var cursors []string
	c := newClient(t, "http://belfry.invalid", tripper(func(r *http.Request) (*http.Response, error) {
		cursors = append(cursors, r.URL.Query().Get("cursor"))
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(pages[len(cursors)-1]))}, nil
	}))
	var ids []string
	for job, err := range c.List(t.Context(), client.Filter{Type: "rare"}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, job.ID)
	}
	if fmt.Sprint(ids, cursors) != "[7 3] [ b c d]" {
		t.Errorf("got %v under %q", ids, cursors)
	}
}
