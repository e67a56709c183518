package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// wakeEvent is the event of an invocation that wakes the tick.
type wakeEvent struct {
	Wake bool `json:"belfry_wake"`
}

// IsWake reports whether the event of an invocation comes from a Waker.
func IsWake(event []byte) bool {
	var e wakeEvent
	return json.Unmarshal(event, &e) == nil && e.Wake
}

// Waker invokes the tick function asynchronously.
type Waker struct {
	client   *lambda.Client
	function string
	payload  []byte
}

// NewWaker takes the function's name or ARN. Credentials and region come from the usual places of AWS's tools.
func NewWaker(ctx context.Context, function string) (*Waker, error) {
	loaded, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("aws: waker: %w", err)
	}
	payload, err := json.Marshal(wakeEvent{true})
	if err != nil {
		return nil, fmt.Errorf("aws: waker: %w", err)
	}
	return &Waker{lambda.NewFromConfig(loaded), function, payload}, nil
}

// Wake returns once Lambda has accepted the invocation. Lambda itself retries throttled invocations.
func (w *Waker) Wake(ctx context.Context) error {
	answer, err := w.client.Invoke(ctx, &lambda.InvokeInput{FunctionName: &w.function, InvocationType: types.InvocationTypeEvent, Payload: w.payload})
	if err == nil && answer.StatusCode/100 != 2 {
		err = errors.New("status " + fmt.Sprint(answer.StatusCode))
	}
	if err != nil {
		return fmt.Errorf("aws: wake the tick: %w", err)
	}
	return nil
}
