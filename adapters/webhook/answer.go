package webhook

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/jsonscan"
)

// Bounds of a Retry-After.
const (
	minRetryAfter = time.Second
	maxRetryAfter = 24 * time.Hour
)

// ended holds what an answer means for the job, its host and its endpoint.
type ended struct {
	result         json.RawMessage
	err            error
	host, endpoint verdict
}

// judgeAnswer turns a status into the job's end by the contract: 2xx is done, 202 accepted. 408, 425, 429 and 5xx are
// retried, after Retry-After if it is set. Other 4xx fail for good, and a redirect is a failed attempt. Errors contain only
// the status: the body is the target's own text or may repeat the payload.
func judgeAnswer(host string, resp *http.Response, body answerBody, now time.Time) ended {
	code := resp.StatusCode
	fault := func(note string) error {
		return fmt.Errorf("target %s answered %s%s", host, statusText(code), note)
	}
	switch {
	case code == http.StatusAccepted:
		return ended{err: core.ErrAccepted, host: healthy, endpoint: healthy}
	case code >= 200 && code <= 299:
		end := ended{result: body.result, host: healthy, endpoint: healthy}
		if body.lost != "" {
			end.err = core.ResultLost(fault("; its result was lost: " + body.lost))
		}
		return end
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

// retryAfter reads the wait that an answer asks for, within bounds. A date is compared with the answer's own Date, if it has
// one, so that a difference between the two clocks does not matter.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0, false
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter, true // too many digits for a number
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

// answerBody is what the job keeps of an answer's body.
type answerBody struct {
	result json.RawMessage // nil: none
	lost   string          // why a result was lost; "" if none was
}

// readBody reads at most limit bytes. A body that is not JSON gives no result. A body that breaks off, is too long, or
// claims to be JSON but cannot be kept is a lost result. Reading to the end allows the connection to be reused.
func readBody(resp *http.Response, limit int) answerBody {
	text, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	switch {
	case err != nil:
		return answerBody{lost: "the answer's body broke off"}
	case len(text) > limit:
		return answerBody{lost: fmt.Sprintf("the answer's body has more than %d bytes", limit)}
	}
	result := resultOf(text)
	if result == nil && len(text) > 0 && isJSON(resp.Header.Get("Content-Type")) {
		return answerBody{lost: "the answer's body is no JSON that can be kept"}
	}
	return answerBody{result: result}
}

// isJSON reports whether a content type is JSON.
func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// resultOf returns the body if it is JSON that a result can hold, or nil. The job is done in both cases.
func resultOf(body []byte) json.RawMessage {
	if len(body) == 0 {
		return nil
	}
	facts, err := jsonscan.Scan(body)
	if err != nil || facts.Depth > core.MaxPayloadDepth || facts.Nul >= 0 || facts.Lone >= 0 {
		return nil
	}
	return body
}
