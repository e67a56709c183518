package gcp

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"time"

	"gocloud.dev/pubsub/gcppubsubv2"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/belfry-dev/belfry/adapters/queueurl"
	"github.com/belfry-dev/belfry/core"
)

const (
	schemePubSub  = gcppubsubv2.Scheme
	schemeOld     = "gcppubsub" // scheme of the old client's driver; opened with the new one
	maxDeadline   = 600 * time.Second
	maxPull       = 1000             // maximum messages of one call
	pullTimeout   = 90 * time.Second // of one call, which the service ends earlier if there are no messages
	callTimeout   = 30 * time.Second
	rejectAfter   = 10 * time.Second
	keepaliveTime = 5 * time.Minute // the server closes connections with shorter ones
)

// QueueOptions configure the use of Pub/Sub. The zero value is ready.
type QueueOptions struct {
	// Visibility is how long a received message is hidden from others unless it is extended: a worker's lease, in whole
	// seconds up to 600. Zero means the subscription's own acknowledgement deadline.
	Visibility time.Duration
	// RejectAfter is how soon an unreadable message is delivered again, until Pub/Sub moves it to the dead-letter topic. A
	// retry policy adds to it. Zero means 10 s.
	RejectAfter time.Duration
}

// Queue implements core.Queue on Pub/Sub.
type Queue struct {
	opts   QueueOptions
	places map[core.Priority]place
}

// place is one priority's topic and subscription.
type place struct {
	project      string
	topic        string
	subscription string // its full name
	dial         []option.ClientOption
}

// OpenQueue reads one URL per priority, such as
// gcppubsubv2://projects/my-project/topics/belfry-default?subscription=belfry-default
// where the subscription's name may be omitted if it equals the topic's. With emulator=127.0.0.1:8085 it connects to an
// emulator, without credentials. It makes no calls; topics and subscriptions must exist.
func OpenQueue(_ context.Context, urls map[core.Priority]string, opts QueueOptions) (*Queue, error) {
	if opts.Visibility < 0 || opts.Visibility > maxDeadline || opts.Visibility%time.Second != 0 {
		return nil, fmt.Errorf("gcp: visibility %s: want whole seconds up to %s", opts.Visibility, maxDeadline)
	}
	if opts.RejectAfter == 0 {
		opts.RejectAfter = rejectAfter
	}
	q := &Queue{opts: opts, places: map[core.Priority]place{}}
	for _, p := range core.Priorities {
		at, err := newPlace(urls[p])
		if err != nil {
			return nil, fmt.Errorf("gcp: the %s queue: %w", p, err)
		}
		q.places[p] = at
	}
	return q, nil
}

var (
	longName  = regexp.MustCompile(`^projects/([^/]+)/topics/([^/]+)$`)
	shortName = regexp.MustCompile(`^([^/]+)/([^/]+)$`)
)

func newPlace(address string) (place, error) {
	u, err := queueurl.Parse(address, schemePubSub, schemeOld)
	if err != nil {
		return place{}, err
	}
	name := path.Join(u.Host, u.Path)
	parts := longName.FindStringSubmatch(name)
	if parts == nil {
		parts = shortName.FindStringSubmatch(name)
	}
	if parts == nil {
		return place{}, fmt.Errorf("want %s://projects/PROJECT/topics/TOPIC?subscription=SUBSCRIPTION", schemePubSub)
	}
	at := place{project: parts[1], topic: parts[2]}
	subscription, emulator := at.topic, ""
	for name, values := range u.Query() {
		switch value := values[0]; {
		case value == "":
			return place{}, fmt.Errorf("parameter %s is empty", name)
		case name == "subscription":
			subscription = value
		case name == "emulator":
			emulator = value
		default:
			return place{}, fmt.Errorf("parameter %s: want subscription or emulator", name)
		}
	}
	at.subscription = "projects/" + at.project + "/subscriptions/" + path.Base(subscription)
	at.dial = dialOptions(emulator)
	return at, nil
}

func dialOptions(emulator string) []option.ClientOption {
	if emulator == "" {
		return []option.ClientOption{option.WithGRPCDialOption(grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime}))}
	}
	return []option.ClientOption{
		option.WithEndpoint(emulator), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
	}
}

var errClosed = errors.New("gcp: the subscription is closed")

// seconds converts d to whole seconds, rounded up and limited to what Pub/Sub accepts.
func seconds(d time.Duration) int32 {
	return int32((min(max(d, 0), maxDeadline) + time.Second - 1) / time.Second)
}
