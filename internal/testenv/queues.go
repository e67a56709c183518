package testenv

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/belfry-dev/belfry/internal/containers/engine"
	"github.com/belfry-dev/belfry/internal/queueserver"
)

// Addresses of servers that run already.
const (
	sqsVariable        = "BELFRY_TEST_SQS_ENDPOINT"    // http://host:port
	localstackVariable = "BELFRY_TEST_LOCALSTACK_URL"  // http://host:port
	pubsubVariable     = "BELFRY_TEST_PUBSUB_EMULATOR" // host:port
	rabbitVariable     = "BELFRY_TEST_RABBIT_URL"      // amqp://user:password@host:port/
)

var (
	sharedSQS        = sync.OnceValues(func() (*running, error) { return find("sqs", sqsVariable, queueserver.StartMoto) })
	sharedLocalStack = sync.OnceValues(func() (*running, error) {
		return find("sqs", localstackVariable, func() (*queueserver.Server, error) { return nil, queueserver.ErrNotInstalled })
	})
	sharedPubSub = sync.OnceValues(func() (*running, error) { return find("pubsub", pubsubVariable, queueserver.StartPubSub) })
	sharedRabbit = sync.OnceValues(func() (*running, error) { return find("rabbit", rabbitVariable, queueserver.StartRabbit) })
)

// running is where a server answers, and what must be held to keep it.
type running struct {
	address string
	held    any
}

// SQS returns the endpoint of a server that speaks SQS and is shared by this process's tests: each makes queues of
// its own. Its name in the list of required servers is "sqs".
func SQS(t testing.TB) string {
	t.Helper()
	return found(t, "sqs", sharedSQS, "install moto (pip install 'moto[server]') or a container engine, or set "+sqsVariable)
}

// LocalStack returns the endpoint of SQS on LocalStack, which is shared by this process's tests. It comes from an address
// in the environment or from a container, whose image must be on this machine already: it is too large to be pulled
// unasked. Its name in the list of required servers is "localstack".
func LocalStack(t testing.TB) string {
	t.Helper()
	if os.Getenv(localstackVariable) == "" {
		Image(t, "localstack", engine.LocalStack)
	}
	return found(t, "localstack", sharedLocalStack, "start a container engine, or set "+localstackVariable)
}

// PubSub returns the address of a Pub/Sub emulator that is shared by this process's tests: each makes topics of its
// own. Its name in the list of required servers is "pubsub".
func PubSub(t testing.TB) string {
	t.Helper()
	return found(t, "pubsub", sharedPubSub, "install the gcloud SDK with its pubsub-emulator or a container engine, or set "+pubsubVariable)
}

// Rabbit returns the URL of a RabbitMQ that is shared by this process's tests: each makes queues of its own. Its name
// in the list of required servers is "rabbit".
func Rabbit(t testing.TB) string {
	t.Helper()
	return found(t, "rabbit", sharedRabbit, "install rabbitmq-server or a container engine, or set "+rabbitVariable)
}

// RabbitServer starts a RabbitMQ for this test alone, which the test may kill and start as it likes. It is closed when
// the test ends.
func RabbitServer(t testing.TB) *queueserver.Server {
	t.Helper()
	server, err := queueserver.StartRabbit()
	if errors.Is(err, queueserver.ErrNotInstalled) {
		NotInstalled(t, "rabbit", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// NotInstalled ends a test that needs a server of its own, or a part of one, that is not installed on this machine: an
// address or a container will not do.
func NotInstalled(t testing.TB, server string, cause error) {
	t.Helper()
	missing(t, server, cause, "install its programs")
}

func found(t testing.TB, name string, start func() (*running, error), howTo string) string {
	t.Helper()
	server, err := start()
	if errors.Is(err, queueserver.ErrNotInstalled) {
		missing(t, name, err, howTo)
	}
	if err != nil {
		t.Fatal(err)
	}
	return server.address
}

// find returns a server from, in this order, an address in the environment, programs on this machine, a container.
func find(name, variable string, here func() (*queueserver.Server, error)) (*running, error) {
	if address := os.Getenv(variable); address != "" {
		return &running{address: address}, nil
	}
	var err error
	if onlyContainers() {
		err = fmt.Errorf("%w, %w", queueserver.ErrNotInstalled, errLeftOut)
	} else {
		server, startErr := here()
		if startErr == nil {
			return &running{address: server.Address(), held: server}, nil
		}
		err = startErr
	}
	if !errors.Is(err, queueserver.ErrNotInstalled) {
		return nil, err
	}
	contained, containerErr := startContained(name)
	if errors.Is(containerErr, engine.ErrNone) {
		return nil, fmt.Errorf("%w, and %w", err, containerErr)
	}
	if containerErr != nil {
		return nil, containerErr
	}
	return &running{address: contained.url, held: contained}, nil
}
