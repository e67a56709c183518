package testenv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// Addresses of servers that run already.
const (
	sqsVariable    = "BELFRY_TEST_SQS_ENDPOINT"    // http://host:port
	pubsubVariable = "BELFRY_TEST_PUBSUB_EMULATOR" // host:port
	rabbitVariable = "BELFRY_TEST_RABBIT_URL"      // amqp://user:password@host:port/
)

var (
	sharedSQS    = sync.OnceValues(startMoto)
	sharedPubSub = sync.OnceValues(startPubSub)
	sharedRabbit = sync.OnceValues(startRabbit)
)

// errNoProgram says that this machine does not have a server's programs.
var errNoProgram = errors.New("its programs are neither on PATH nor in the usual place")

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

// RabbitServer starts a RabbitMQ for this test alone, which stop ends. It is stopped when the test ends.
func RabbitServer(t testing.TB) (address string, stop func()) {
	t.Helper()
	server, err := startRabbitHere()
	if errors.Is(err, errNoProgram) {
		missing(t, "rabbit", err, "install rabbitmq-server")
	}
	if err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		if err := server.held.(*daemon).close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return server.address, stop
}

func found(t testing.TB, name string, start func() (*running, error), howTo string) string {
	t.Helper()
	server, err := start()
	if errors.Is(err, errNoProgram) {
		missing(t, name, err, howTo)
	}
	if err != nil {
		t.Fatal(err)
	}
	return server.address
}

// find returns a server from, in this order, an address in the environment, programs on this machine, a container.
func find(name, variable string, here func() (*running, error)) (*running, error) {
	if address := os.Getenv(variable); address != "" {
		return &running{address: address}, nil
	}
	server, err := here()
	if !errors.Is(err, errNoProgram) {
		return server, err
	}
	contained, containerErr := startContained(name)
	if errors.Is(containerErr, errNoEngine) {
		return nil, fmt.Errorf("%w, and %w", err, containerErr)
	}
	if containerErr != nil {
		return nil, containerErr
	}
	return &running{address: contained.url, held: contained}, nil
}

func startMoto() (*running, error) {
	return find("sqs", sqsVariable, func() (*running, error) {
		program, err := exec.LookPath("moto_server")
		if err != nil {
			return nil, fmt.Errorf("moto_server: %w", errNoProgram)
		}
		server, port, err := startDaemon(func(_ string, port, _ int) (env, command []string) {
			return nil, []string{program, "-H", "127.0.0.1", "-p", strconv.Itoa(port)}
		}, answersHTTP)
		if err != nil {
			return nil, err
		}
		return &running{address: "http://" + local(port), held: server}, nil
	})
}

// pubsubPlaces are where packages put the emulator.
var pubsubPlaces = []string{"/usr/lib/google-cloud-sdk", "/usr/share/google-cloud-sdk", "/opt/google-cloud-sdk", "/snap/google-cloud-cli/current"}

func startPubSub() (*running, error) {
	return find("pubsub", pubsubVariable, func() (*running, error) {
		places := pubsubPlaces
		if gcloud, err := exec.LookPath("gcloud"); err == nil {
			if resolved, err := filepath.EvalSymlinks(gcloud); err == nil {
				places = append([]string{filepath.Dir(filepath.Dir(resolved))}, places...)
			}
		}
		for _, place := range places {
			program := filepath.Join(place, "platform", "pubsub-emulator", "bin", "cloud-pubsub-emulator")
			if _, err := os.Stat(program); err != nil {
				continue
			}
			server, port, err := startDaemon(func(_ string, port, _ int) (env, command []string) {
				return []string{"JAVA_OPTS=-Xmx512m"}, []string{program, "--host=127.0.0.1", "--port=" + strconv.Itoa(port)}
			}, answersHTTP)
			if err != nil {
				return nil, err
			}
			return &running{address: local(port), held: server}, nil
		}
		return nil, fmt.Errorf("pubsub-emulator: %w", errNoProgram)
	})
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// answersHTTP is ready once something answers a request, whatever it says.
func answersHTTP(ctx context.Context, port int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+local(port)+"/", nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}
