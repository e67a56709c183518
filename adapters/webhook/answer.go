package webhook

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Bounds on what a Retry-After may ask for.
const (
	minRetryAfter = time.Second
	maxRetryAfter = 24 * time.Hour
)

// ended is what an answer means for the job, and what an attempt showed of its host and its endpoint.
type ended struct {
	result         json.RawMessage
	err            error
	host, endpoint verdict
}

// judgeAnswer turns a status into the job's end, by the rules of the contract: 2xx done, 202 accepted, 408, 425, 429
// and 5xx again (after Retry-After, where it says), other 4xx never, and a redirect is a failed attempt. Errors
// name the status alone: what the target wrote is its own, or the payload sent back.
func judgeAnswer(host string, resp *http.Response, body []byte, now time.Time) ended {
	code := resp.StatusCode
	fault := func(note string) error {
		return fmt.Errorf("target %s answered %s%s", host, statusText(code), note)
	}
	switch {
	case code == http.StatusAccepted:
		return ended{err: core.ErrAccepted, host: healthy, endpoint: healthy}
	case code >= 200 && code <= 299:
		return ended{result: resultOf(body), host: healthy, endpoint: healthy}
	case code >= 300 && code <= 399:
		return ended{err: fault("; redirects are not followed"), host: healthy, endpoint: healthy}
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code >= 500 && code <= 599:
		err := fault("")
		if wait, ok := retryAfter(resp.Header, now); ok {
			err = core.RetryAfter(err, wait)
		}
		return ended{err: err, host: healthy, endpoint: unhealthy}
	case code >= 400 && code <= 499:
		return ended{err: core.Permanent(fault("")), host: healthy, endpoint: healthy}
	}
	return ended{err: fault(", which is no final answer"), host: healthy, endpoint: unhealthy} // 101 and numbers outside the classes
}

func statusText(code int) string {
	return strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code))
}

// retryAfter reads the wait that an answer asks for, within bounds. A date is taken from the answer's own Date
// where it has one, so that a clock that differs from ours changes nothing.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0, false
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter, true // more digits than a number holds
		}
		return max(time.Duration(seconds)*time.Second, minRetryAfter), true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent
	}
	return min(max(at.Sub(now), minRetryAfter), maxRetryAfter), true
}

// readBody reads at most limit bytes; more, or a fault while reading, is nil. Reading to the end lets the
// connection be used again.
func readBody(body io.Reader, limit int) []byte {
	text, err := io.ReadAll(io.LimitReader(body, int64(limit)+1))
	if err != nil || len(text) > limit {
		return nil
	}
	return text
}

// resultOf is the body where it is JSON that a result can hold, else nil: the work is done all the same.
func resultOf(body []byte) json.RawMessage {
	if len(body) == 0 {
		return nil
	}
	facts, err := core.ScanJSON(body)
	if err != nil || facts.Depth > core.MaxPayloadDepth || facts.Nul >= 0 || facts.Lone >= 0 {
		return nil
	}
	return body
}
