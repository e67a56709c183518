package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-dev/belfry/core"
)

const (
	region      = "eu-west-1"
	account     = "000000000000" // LocalStack's
	maxReceives = 20             // of workers that pull: see docs/queues.md
)

// makeQueues makes the queues under the names that deployments use, each with dead letters, and returns their URLs.
func makeQueues(ctx context.Context, endpoint string) (map[core.Priority]string, error) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} { // LocalStack asks for some, and looks at none
		if err := os.Setenv(name, "test"); err != nil {
			return nil, err
		}
	}
	client := sqs.New(sqs.Options{Region: region, BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	urls := map[core.Priority]string{}
	for _, p := range core.Priorities {
		name := "belfry-" + p.String()
		dead := name + "-dead"
		if _, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &dead}); err != nil {
			return nil, fmt.Errorf("queue %s: %w", dead, err)
		}
		redrive := fmt.Sprintf(`{"deadLetterTargetArn":"arn:aws:sqs:%s:%s:%s","maxReceiveCount":%s}`, region, account, dead, strconv.Quote(strconv.Itoa(maxReceives)))
		_, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{
			QueueName:  sdk.String(name),
			Attributes: map[string]string{string(types.QueueAttributeNameRedrivePolicy): redrive},
		})
		if err != nil {
			return nil, fmt.Errorf("queue %s: %w", name, err)
		}
		urls[p] = fmt.Sprintf("awssqs://localhost/%s/%s?region=%s&endpoint=%s", account, name, region, url.QueryEscape(endpoint))
	}
	return urls, nil
}
