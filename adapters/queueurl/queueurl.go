// Package queueurl reads the URLs of queues, and says why some brokers cannot be a work queue.
package queueurl

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// unfit are schemes of gocloud.dev whose drivers cannot be a work queue, and why.
var unfit = map[string]string{
	"nats":   "core NATS delivers at most once and keeps nothing for workers that are not listening, so jobs would wait for their dispatch leases again and again",
	"kafka":  "Kafka acknowledges offsets and not messages, so one job that runs long holds up all behind it, and none can be given back",
	"awssns": "nobody can receive from an SNS topic: name the SQS queue (awssqs://)",
	"rabbit": "the server's address belongs into the URL: amqp://user:password@host/vhost?queue=name",
}

// Parse reads the URL of one priority's queue, which must have one of the schemes. A scheme whose driver cannot be
// a work queue is refused with the reason. The error never repeats the URL: it may hold a password.
func Parse(address string, schemes ...string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("not a URL (it is not shown: it may hold a password, whose special characters must be percent-encoded)")
	}
	if slices.Contains(schemes, u.Scheme) {
		return u, nil
	}
	family, _, _ := strings.Cut(u.Scheme, "+")
	if why := unfit[family]; why != "" {
		return nil, fmt.Errorf("scheme %q cannot be a work queue: %s", u.Scheme, why)
	}
	return nil, fmt.Errorf("scheme %q: want %s", u.Scheme, strings.Join(schemes, " or "))
}
