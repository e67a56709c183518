package pulltest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	google "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/belfry-dev/belfry/core"
)

// inProcess makes the queues on the client library's own server, which tells what became of each message.
func (s *stage) inProcess(t *testing.T) *pstest.Server {
	t.Helper()
	server := pstest.NewServer()
	t.Cleanup(func() { _ = server.Close() })
	client, err := google.NewClient(t.Context(), "belfry", option.WithEndpoint(server.Addr), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, p := range core.Priorities {
		topic := "projects/belfry/topics/belfry-" + p.String()
		if _, err := client.TopicAdminClient.CreateTopic(t.Context(), &pubsubpb.Topic{Name: topic}); err != nil {
			t.Fatal(err)
		}
		subscription := &pubsubpb.Subscription{Name: "projects/belfry/subscriptions/belfry-" + p.String(), Topic: topic, AckDeadlineSeconds: 10}
		if _, err := client.SubscriptionAdminClient.CreateSubscription(t.Context(), subscription); err != nil {
			t.Fatal(err)
		}
		s.urls[p] = fmt.Sprintf("gcppubsubv2://%s?emulator=%s", topic, server.Addr)
	}
	return server
}

// idleService is a Pub/Sub without messages that holds each pull for as long as it may, and counts them.
type idleService struct {
	pubsubpb.UnimplementedSubscriberServer
	hold time.Duration

	mu    sync.Mutex
	pulls map[string]int // by subscription
}

func (s *idleService) Pull(ctx context.Context, req *pubsubpb.PullRequest) (*pubsubpb.PullResponse, error) {
	s.mu.Lock()
	s.pulls[req.GetSubscription()]++
	s.mu.Unlock()
	held := time.NewTimer(s.hold)
	defer held.Stop()
	select {
	case <-held.C:
	case <-ctx.Done():
	}
	return &pubsubpb.PullResponse{}, nil
}

// idle makes the queues on such a service.
func (s *stage) idle(t *testing.T, hold time.Duration) *idleService {
	t.Helper()
	service := &idleService{hold: hold, pulls: map[string]int{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pubsubpb.RegisterSubscriberServer(server, service)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	for _, p := range core.Priorities {
		s.urls[p] = fmt.Sprintf("gcppubsubv2://projects/belfry/topics/belfry-%s?emulator=%s", p, listener.Addr())
	}
	return service
}
