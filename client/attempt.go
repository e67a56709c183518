package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Extended answers a heartbeat.
type Extended struct {
	LeaseUntil   time.Time `json:"lease_until"`   // without another heartbeat the attempt counts as lost after this
	CancelWanted bool      `json:"cancel_wanted"` // stop, and call Fail
}

// Failure says how an attempt went wrong.
type Failure struct {
	Error      string        // what went wrong; required. 2 KiB of it are kept
	Permanent  bool          // do not try again
	RetryAfter time.Duration // try again after this, not after the back-off; not beside Permanent. Zero means the back-off
}

// Heartbeat extends the lease of an attempt whose delivery was answered 202: it then lasts the job's timeout from
// now. leaseToken is the belfry-lease-token of that delivery, and the only right this call needs, as are Complete's
// and Fail's; a client for these alone is made without Options.Token. ErrConflict means that the token is stale: the
// attempt has ended, or another has begun. Stop then; nothing was changed.
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

// Complete ends an attempt well: the job is done. result is any JSON of up to 64 KiB, as encoding/json writes it, a
// json.RawMessage byte for byte; nil means none. A repeat gets the first answer, so it is tried again after a lost
// one.
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

// Fail ends an attempt with an error and says what the job is now: scheduled, to be tried again, failed for good, or
// cancelled where that was wanted. A repeat gets the first answer, so it is tried again after a lost one.
func (c *Client) Fail(ctx context.Context, id, leaseToken string, f Failure) (Status, error) {
	doc := attemptDoc{LeaseToken: leaseToken, Error: f.Error, Permanent: f.Permanent, RetryAfter: duration(f.RetryAfter)}
	return c.end(ctx, id, "fail", doc)
}

// attemptDoc is the body of the calls of those who have an attempt in hand.
type attemptDoc struct {
	LeaseToken string          `json:"lease_token"`
	Error      string          `json:"error,omitempty"`
	Permanent  bool            `json:"permanent,omitempty"`
	RetryAfter string          `json:"retry_after,omitempty"`
	Result     json.RawMessage `json:"-"` // put in as it is
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
