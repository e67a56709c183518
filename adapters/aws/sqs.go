package aws

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	gcaws "gocloud.dev/aws"
	"gocloud.dev/pubsub/awssnssqs"

	"github.com/belfry-dev/belfry/adapters/queueurl"
	"github.com/belfry-dev/belfry/core"
)

const (
	longPoll       = 20 * time.Second // the maximum of SQS
	callTimeout    = 2 * longPoll     // of one HTTP call; a long poll is the longest call
	connections    = 128              // connections to SQS kept open
	maxVisibility  = 12 * time.Hour   // counted from the receipt
	maxDelay       = 15 * time.Minute
	rejectAfter    = 10 * time.Second
	schemeSQS      = awssnssqs.SQSScheme
	suffixFIFO     = ".fifo"
	maxGroupLength = 128
)

// QueueOptions configure the use of SQS. The zero value is ready.
type QueueOptions struct {
	// Visibility is how long a received message is hidden from others unless it is extended: a worker's lease, in whole
	// seconds. Zero means the queue's own visibility timeout, which is long for an event source mapping.
	Visibility time.Duration
	// FairTenants sends each message with its tenant as MessageGroupId. SQS then prevents one tenant's backlog from delaying
	// the others, at a higher price per request. Zero means no group.
	FairTenants bool
	// Delay hides a message before its first delivery, for at most 15 minutes. Nil means no delay.
	Delay func(core.Message) time.Duration
	// RejectAfter is how soon an unreadable message is delivered again, until SQS moves it to the dead-letter queue. Zero
	// means 10 s.
	RejectAfter time.Duration
}

// Queue implements core.Queue on SQS.
type Queue struct {
	opts   QueueOptions
	places map[core.Priority]place
}

// place is one queue: its client and its name there.
type place struct {
	client *sqs.Client
	url    string
}

// OpenQueue reads one URL per priority, such as
// awssqs://sqs.eu-west-1.amazonaws.com/123456789012/belfry-default?region=eu-west-1
// with the parameters of gocloud.dev, and makes clients. It makes no calls; the queues must exist.
func OpenQueue(ctx context.Context, urls map[core.Priority]string, opts QueueOptions) (*Queue, error) {
	if opts.Visibility < 0 || opts.Visibility > maxVisibility || opts.Visibility%time.Second != 0 {
		return nil, fmt.Errorf("aws: visibility %s: want whole seconds up to %s", opts.Visibility, maxVisibility)
	}
	if opts.RejectAfter == 0 {
		opts.RejectAfter = rejectAfter
	}
	q := &Queue{opts: opts, places: map[core.Priority]place{}}
	for _, p := range core.Priorities {
		at, err := newPlace(ctx, urls[p])
		if err != nil {
			return nil, fmt.Errorf("aws: the %s queue: %w", p, err)
		}
		q.places[p] = at
	}
	return q, nil
}

func newPlace(ctx context.Context, address string) (place, error) {
	u, err := queueurl.Parse(address, schemeSQS)
	if err != nil {
		return place{}, err
	}
	if strings.HasSuffix(u.Path, suffixFIFO) {
		return place{}, errors.New("a FIFO queue holds back a group's messages behind its oldest: want a standard queue")
	}
	if u.Host == "" || strings.Trim(u.Path, "/") == "" {
		return place{}, fmt.Errorf("want %s://HOST/ACCOUNT/QUEUE?region=REGION", schemeSQS)
	}
	config, err := gcaws.V2ConfigFromURLParams(ctx, plainParameters(u))
	if err != nil {
		return place{}, err
	}
	config.HTTPClient = awshttp.NewBuildableClient().WithTimeout(callTimeout).WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = connections, connections
	})
	return place{client: awssnssqs.DialSQS(config), url: "https://" + path.Join(u.Host, u.Path)}, nil
}

// plainParameters returns the parameters without those for gocloud.dev's receiving. This package receives by itself, in the
// way that they ask for.
func plainParameters(u *url.URL) url.Values {
	values := u.Query()
	for _, name := range []string{"raw", "nacklazy", "waittime"} {
		values.Del(name)
	}
	return values
}

// seconds converts d to whole seconds, rounded up and limited to what SQS accepts.
func seconds(d, limit time.Duration) int32 {
	return int32((min(max(d, 0), limit) + time.Second - 1) / time.Second)
}
