package engine

// The images of the servers: the newest that the tests are run on.
const (
	Postgres   = "postgres:17-alpine"
	LocalStack = "localstack/localstack:4.14.0" // the last that starts without an account
	PubSub     = "gcr.io/google.com/cloudsdktool/google-cloud-cli:emulators"
	Rabbit     = "rabbitmq:4-alpine"
)
