package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// maxAnswer bounds the bytes read of one answer: a batch's has 32 MiB of jobs and the JSON around them.
const maxAnswer = 128 << 20

// keyHeader makes a repeated submit get the first one's answer.
const keyHeader = "Idempotency-Key"

// call is one operation, with all its tries.
type call struct {
	method, path string
	query        url.Values
	body         []byte // JSON; nil means none
	header       map[string]string
	key          string        // Idempotency-Key; "" means none
	repeatable   bool          // may reach the server twice, with or without a key
	reads        bool          // changes nothing although its method is no GET
	wait         time.Duration // added to the timeout of a try
}

func (c *call) name() string { return c.method + " " + c.path }

// writes reports whether the operation may change something: after a lost answer it is unknown whether it did.
func (c *call) writes() bool {
	return !c.reads && !slices.Contains([]string{http.MethodGet, http.MethodHead}, c.method)
}

// do tries until a try succeeds, one fails for good, or the tries are used up; then it returns the last error. It returns
// the status and body of an answer from 200 to 299.
//
// A call with an Idempotency-Key is repeatable. While an earlier try with the key is still running, the call waits for up to
// the time of one try; this does not count as a try.
func (c *Client) do(ctx context.Context, call call) (int, []byte, error) {
	if err := call.check(); err != nil {
		return 0, nil, err
	}
	unknown, repeatable := false, call.repeatable || call.key != ""
	var waited time.Duration
	for try := 1; ; try++ {
		status, body, err := c.try(ctx, &call)
		if err == nil {
			return status, body, nil
		}
		inFlight := call.key != "" && isInFlight(err)
		unknown = unknown || call.writes() && (inFlight || leavesUnknown(err))
		v := c.opts.Retry.judge(err, repeatable)
		wait := max(v.wait, c.opts.Retry.pause(try))
		if inFlight && waited < c.opts.Retry.Timeout {
			try--
			wait = v.wait
			waited += wait
		}
		if !v.again || try == c.opts.Retry.Tries || ctx.Err() != nil {
			return status, nil, finally(err, unknown)
		}
		if ended := sleep(ctx, wait); ended != nil {
			return status, nil, finally(fmt.Errorf("%w (after %w)", ended, err), unknown)
		}
	}
}

// isInFlight reports whether an earlier try with the same Idempotency-Key is still running.
func isInFlight(err error) bool {
	var p *Problem
	return errors.As(err, &p) && p.Status == http.StatusConflict && p.RetryAfter > 0
}

// finally marks the error of a write that may have happened.
func finally(err error, unknown bool) error {
	var p *Problem
	answered := errors.As(err, &p) && p.Status < 500 && p.Status != http.StatusTooManyRequests && !p.transient() && !isInFlight(err)
	if !unknown || answered || errors.Is(err, ErrUnknown) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnknown, err)
}

// leavesUnknown reports whether a write may have happened despite err.
func leavesUnknown(err error) bool {
	var p *Problem
	if errors.As(err, &p) {
		return p.Status >= 500
	}
	return !neverSent(err)
}

// try sends one request and reads the whole answer.
func (c *Client) try(ctx context.Context, call *call) (int, []byte, error) {
	limited, cancel := context.WithTimeout(ctx, c.opts.Retry.Timeout+call.wait)
	defer cancel()
	r, err := c.request(limited, call)
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w", call.name(), err)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return 0, nil, c.lost(ctx, call, err)
	}
	defer resp.Body.Close()
	body, err := readAnswer(resp)
	switch {
	case errors.Is(err, ErrForeign):
		return 0, nil, fmt.Errorf("%s: %w", call.name(), err)
	case err != nil:
		return 0, nil, c.lost(ctx, call, err)
	case resp.StatusCode >= 300:
		p := problemOf(call.name(), resp.StatusCode, body)
		p.RetryAfter = retryAfter(resp.Header, time.Now())
		return resp.StatusCode, nil, p
	}
	return resp.StatusCode, body, nil
}

// readAnswer reads a body up to the longest answer of this API.
func readAnswer(resp *http.Response) ([]byte, error) {
	tooLong := fmt.Errorf("%w: it is longer than %d bytes", ErrForeign, maxAnswer)
	if resp.ContentLength > maxAnswer {
		return nil, tooLong
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = tooLong
	}
	return body, err
}

func (c *Client) request(ctx context.Context, call *call) (*http.Request, error) {
	address := c.base + call.path
	if len(call.query) > 0 {
		address += "?" + call.query.Encode()
	}
	var body io.Reader
	if call.body != nil {
		body = bytes.NewReader(call.body)
	}
	r, err := http.NewRequestWithContext(ctx, call.method, address, body)
	if err != nil {
		return nil, errors.New("the address does not make a request")
	}
	r.Header.Set("Accept", "application/json, application/problem+json")
	r.Header.Set("User-Agent", c.opts.UserAgent)
	if call.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range call.header {
		r.Header.Set(name, value)
	}
	if call.key != "" {
		r.Header.Set(keyHeader, call.key)
	}
	if c.opts.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.opts.Token)
	}
	return r, nil
}

// lost returns the error of a try without an answer. If the caller's ctx ended, the error says so.
func (c *Client) lost(ctx context.Context, call *call, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // its text repeats the whole address
	}
	e := &connectionError{call: call.name(), err: err, text: lostBy(err, c.host), unknown: call.writes() && !neverSent(err), ended: ctx.Err() != nil}
	if e.ended {
		e.err = context.Cause(ctx)
		e.text = e.err.Error()
	}
	return e
}
