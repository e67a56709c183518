package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Extended is the result of a heartbeat.
type Extended struct {
	LeaseUntil   time.Time `json:"lease_until"`   // without another heartbeat, the attempt is lost after this
	CancelWanted bool      `json:"cancel_wanted"` // stop, and call Fail
}

// Failure describes why an attempt failed.
type Failure struct {
	Error      string        // required; the first 2 KiB are kept
	Permanent  bool          // do not try again
	RetryAfter time.Duration // try again after this instead of the back-off; not with Permanent. Zero means the back-off
}

// Heartbeat extends the lease of an attempt whose delivery was answered 202, to the job's timeout from now. leaseToken is
// the belfry-lease-token of that delivery. Heartbeat, Complete and Fail need no other token, so a client for these calls
// needs no Options.Token. ErrConflict means that the token is stale: the attempt has ended, or another has begun. Then stop;
// nothing was changed.
func (c *Client) Heartbeat(ctx context.Context, id, leaseToken string) (Extended, error) {
	call, err := attemptCall(id, "heartbeat", attemptDoc{LeaseToken: leaseToken})
	if err != nil {
		return Extended{}, err
	}
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return Extended{}, err
	}
	var e Extended
	if json.Unmarshal(answer, &e) != nil || e.LeaseUntil.IsZero() {
		return Extended{}, foreign(call.name())
	}
	return e, nil
}

// Complete ends an attempt successfully: the job is done. result is any JSON of up to 64 KiB, written by encoding/json, or a
// json.RawMessage byte for byte; nil means none. A repeat gets the first answer, so the call is retried after a lost answer.
func (c *Client) Complete(ctx context.Context, id, leaseToken string, result any) (Status, error) {
	doc := attemptDoc{LeaseToken: leaseToken}
	if result != nil {
		var err error
		if doc.Result, err = core.MarshalValue("result", result); err != nil {
			return "", err
		}
	}
	return c.end(ctx, id, "complete", doc)
}

// Fail ends an attempt with an error and returns the job's status: scheduled (it will be retried), failed, or cancelled if
// that was wanted. A repeat gets the first answer, so the call is retried after a lost answer.
func (c *Client) Fail(ctx context.Context, id, leaseToken string, f Failure) (Status, error) {
	doc := attemptDoc{LeaseToken: leaseToken, Error: f.Error, Permanent: f.Permanent, RetryAfter: duration(f.RetryAfter)}
	return c.end(ctx, id, "fail", doc)
}

// attemptDoc is the body of Heartbeat, Complete and Fail.
type attemptDoc struct {
	LeaseToken string          `json:"lease_token"`
	Error      string          `json:"error,omitempty"`
	Permanent  bool            `json:"permanent,omitempty"`
	RetryAfter string          `json:"retry_after,omitempty"`
	Result     json.RawMessage `json:"-"` // inserted byte for byte
}

func attemptCall(id, act string, doc attemptDoc) (call, error) {
	body, err := encode(doc)
	if err != nil {
		return call{}, err
	}
	if doc.Result != nil {
		body = withMember(body, "result", doc.Result)
	}
	return call{method: http.MethodPost, path: jobPath(id) + "/" + act, body: body, repeatable: true}, nil
}

func (c *Client) end(ctx context.Context, id, act string, doc attemptDoc) (Status, error) {
	call, err := attemptCall(id, act, doc)
	if err != nil {
		return "", err
	}
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return "", err
	}
	var ended struct {
		Status Status `json:"status"`
	}
	if json.Unmarshal(answer, &ended) != nil || ended.Status == "" {
		return "", foreign(call.name())
	}
	return ended.Status, nil
}
