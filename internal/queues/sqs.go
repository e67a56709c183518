package queues

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/queueserver"
)

const (
	account = "123456789012"
	region  = "eu-west-1"
	key     = "test" // moto takes any
)

// anyone is who signs requests.
func anyone(context.Context) (sdk.Credentials, error) {
	return sdk.Credentials{AccessKeyID: key, SecretAccessKey: key}, nil
}

// installSQS makes standard queues on moto, each with a redrive policy.
func installSQS(ctx context.Context) (*Installation, error) {
	server, err := queueserver.StartMoto()
	if err != nil {
		return nil, err
	}
	client := sqs.New(sqs.Options{Region: region, BaseEndpoint: sdk.String(server.Address()), Credentials: sdk.CredentialsProviderFunc(anyone)})
	i := &Installation{URLs: map[core.Priority]string{}, Server: server, more: []string{"AWS_ACCESS_KEY_ID=" + key, "AWS_SECRET_ACCESS_KEY=" + key, "AWS_EC2_METADATA_DISABLED=true"}}
	for _, p := range core.Priorities {
		i.URLs[p] = fmt.Sprintf("awssqs://127.0.0.1/%s/%s?region=%s&endpoint=%s", account, name(p), region, url.QueryEscape(server.Address()))
		redrive := fmt.Sprintf(`{"deadLetterTargetArn":"arn:aws:sqs:%s:%s:%s","maxReceiveCount":"%d"}`, region, account, deadName(p), maxDeliveries)
		_, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: sdk.String(deadName(p))})
		if err == nil {
			_, err = client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: sdk.String(name(p)), Attributes: map[string]string{"RedrivePolicy": redrive}})
		}
		if err != nil {
			return nil, errors.Join(err, server.Close())
		}
	}
	i.count = func(ctx context.Context, queue string) (int, error) {
		at, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &queue})
		if err != nil {
			return 0, err
		}
		res, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: at.QueueUrl, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
		if err != nil {
			return 0, err
		}
		sum := 0
		for _, state := range []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"} {
			n, err := strconv.Atoi(res.Attributes[state])
			if err != nil {
				return 0, err
			}
			sum += n
		}
		return sum, nil
	}
	return i, nil
}
