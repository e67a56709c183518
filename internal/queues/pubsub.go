package queues

import (
	"context"
	"errors"
	"fmt"

	pubsub "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/queueserver"
)

const project = "belfry"

// maxCounted is where the emulator's messages, which can only be received, stop being counted.
const maxCounted = 1000

// installPubSub makes topics and subscriptions on the emulator, each subscription with dead letters.
func installPubSub(ctx context.Context) (*Installation, error) {
	server, err := queueserver.StartPubSub()
	if err != nil {
		return nil, err
	}
	i := &Installation{URLs: map[core.Priority]string{}, Server: server}
	connect := func(ctx context.Context) (*pubsub.Client, error) {
		return pubsub.NewClient(ctx, project, option.WithEndpoint(server.Address()), option.WithoutAuthentication(),
			option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	}
	client, err := connect(ctx)
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	defer client.Close()
	for _, p := range core.Priorities {
		i.URLs[p] = fmt.Sprintf("gcppubsubv2://%s?emulator=%s", topic(name(p)), server.Address())
		err := make1(ctx, client, deadName(p), nil)
		if err == nil {
			err = make1(ctx, client, name(p), &pubsubpb.DeadLetterPolicy{DeadLetterTopic: topic(deadName(p)), MaxDeliveryAttempts: maxDeliveries})
		}
		if err != nil {
			return nil, errors.Join(err, server.Close())
		}
	}
	i.count = func(ctx context.Context, queue string) (int, error) {
		client, err := connect(ctx)
		if err != nil {
			return 0, err
		}
		defer client.Close()
		res, err := client.SubscriptionAdminClient.Pull(ctx, &pubsubpb.PullRequest{Subscription: subscription(queue), MaxMessages: maxCounted, ReturnImmediately: true}) //nolint:staticcheck // there is no other way to look
		return len(res.GetReceivedMessages()), err
	}
	return i, nil
}

// make1 makes a topic with a subscription of the same name.
func make1(ctx context.Context, client *pubsub.Client, queue string, dead *pubsubpb.DeadLetterPolicy) error {
	if _, err := client.TopicAdminClient.CreateTopic(ctx, &pubsubpb.Topic{Name: topic(queue)}); err != nil {
		return err
	}
	_, err := client.SubscriptionAdminClient.CreateSubscription(ctx, &pubsubpb.Subscription{
		Name: subscription(queue), Topic: topic(queue), AckDeadlineSeconds: 60, DeadLetterPolicy: dead,
	})
	return err
}

func topic(queue string) string        { return "projects/" + project + "/topics/" + queue }
func subscription(queue string) string { return "projects/" + project + "/subscriptions/" + queue }
