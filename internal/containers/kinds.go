package containers

import (
	"fmt"
	"maps"
	"slices"

	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/belfry-dev/belfry/internal/containers/engine"
)

// kind is one kind of server.
type kind struct {
	image string
	port  string
	env   map[string]string
	cmd   []string
	ready wait.Strategy
	url   func(endpoint, password string) string
}

// Kinds are the names that Start knows.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds(""))) }

// kinds are all kinds by name. The password is the one that the server is given.
func kinds(password string) map[string]kind {
	return map[string]kind{
		"postgres": {
			image: engine.Postgres, port: "5432/tcp", env: map[string]string{"POSTGRES_PASSWORD": password, "LANG": "C.UTF-8"},
			cmd: []string{"postgres", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200"},
			// The image starts the server twice: once to set it up, once for good.
			ready: wait.ForLog("database system is ready to accept connections").WithOccurrence(2),
			url: func(endpoint, password string) string {
				return fmt.Sprintf("postgres://postgres:%s@%s/postgres?sslmode=disable", password, endpoint)
			},
		},
		"sqs": {
			image: engine.LocalStack, port: "4566/tcp", env: map[string]string{"SERVICES": "sqs"},
			ready: wait.ForHTTP("/_localstack/health").WithPort("4566/tcp"),
			url:   func(endpoint, _ string) string { return "http://" + endpoint },
		},
		"pubsub": {
			image: engine.PubSub, port: "8085/tcp",
			cmd:   []string{"gcloud", "beta", "emulators", "pubsub", "start", "--host-port=0.0.0.0:8085"},
			ready: wait.ForLog("Server started"),
			url:   func(endpoint, _ string) string { return endpoint },
		},
		"rabbit": {
			image: engine.Rabbit, port: "5672/tcp",
			env:   map[string]string{"RABBITMQ_DEFAULT_USER": "belfry", "RABBITMQ_DEFAULT_PASS": password},
			ready: wait.ForLog("Server startup complete"),
			url:   func(endpoint, password string) string { return fmt.Sprintf("amqp://belfry:%s@%s/", password, endpoint) },
		},
	}
}
