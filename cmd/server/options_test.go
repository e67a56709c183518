package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/cmdlinetest"
)

// clean hides the BELFRY_ variables of whoever runs the test.
func clean(t *testing.T) {
	for _, kv := range os.Environ() {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "BELFRY_") && !strings.HasPrefix(name, "BELFRY_TEST_") {
			t.Setenv(name, value)
			os.Unsetenv(name)
		}
	}
}

func setQueues(t *testing.T, critical, other, bulk string) {
	t.Setenv("BELFRY_QUEUE_CRITICAL_URL", critical)
	t.Setenv("BELFRY_QUEUE_DEFAULT_URL", other)
	t.Setenv("BELFRY_QUEUE_BULK_URL", bulk)
}

func TestQueuesAreOpenedByTheProgramOfTheirKind(t *testing.T) {
	for _, row := range []struct {
		critical, other, bulk, role string
		says                        string // empty: taken
	}{
		{"amqp://h/?queue=c", "amqp://h/?queue=d", "amqps://h/?queue=b", "worker", ""},
		{"mem://c", "mem://d", "mem://b", "all", ""},
		{"mem://c", "mem://d", "mem://b", "tick,worker", ""},
		{"mem://c", "mem://d", "mem://b", "tick", "live in one process"},
		{"mem://c", "mem://d", "mem://b", "worker", "live in one process"},
		{"mem://c", "amqp://h", "amqp://h", "all", "of different kinds"},
		{"awssqs://c", "awssqs://d", "awssqs://b", "worker", "BELFRY_QUEUE_CRITICAL_URL: scheme \"awssqs\": Amazon SQS is for the programs of functions/…/lambda and functions/…/ecs"},
		{"amqp://h", "gcppubsubv2://projects/p/topics/d", "amqp://h", "worker", "BELFRY_QUEUE_DEFAULT_URL: scheme \"gcppubsubv2\": Google Pub/Sub is for the programs of functions/…/cloudrun and functions/…/workerpool"},
		{"amqp://h", "gcppubsub://projects/p/topics/d", "amqp://h", "tick", "functions/…/workerpool"},
		{"amqp://h", "amqp://h", "kafka://s3cr3t", "worker", "BELFRY_QUEUE_BULK_URL: scheme \"kafka\" cannot be a work queue"},
		{"amqp://h", "amqp://h", "redis://s3cr3t", "worker", "want amqp or amqps or mem"},
	} {
		clean(t)
		t.Setenv("BELFRY_DATABASE_URL", "postgres://h/db")
		setQueues(t, row.critical, row.other, row.bulk)
		_, err := parse([]string{"-role", row.role}, io.Discard)
		switch {
		case row.says == "" && err != nil:
			t.Errorf("%+v: %v", row, err)
		case row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), "s3cr3t")):
			t.Errorf("%+v: %v", row, err)
		}
	}
}

func TestWhatIsRefusedAtTheStart(t *testing.T) {
	for _, row := range []struct {
		args              []string
		name, value, says string
	}{
		{nil, "BELFRY_DATABASE_URL", "", "BELFRY_DATABASE_URL: is set, but empty"},
		{[]string{"migrate"}, "BELFRY_DATABASE_URL", "", "BELFRY_DATABASE_URL: is set, but empty"},
		{[]string{"-role", "boss"}, "", "", `-role: role "boss"`},
		{[]string{"run"}, "", "", `unexpected argument "run"`},
		{[]string{"migrate", "down"}, "", "", `unexpected argument "down": migrate takes none`},
		{[]string{"-role", "api", "health"}, "", "", "health takes no flags"},
		{nil, "BELFRY_RDS_IAM", "true", "BELFRY_RDS_IAM: is for programs on AWS"},
		{nil, "BELFRY_STOP_GRACE", "soon", "BELFRY_STOP_GRACE: want a duration"},
	} {
		clean(t)
		t.Setenv("BELFRY_DATABASE_URL", "postgres://h/db")
		if row.name != "" {
			t.Setenv(row.name, row.value)
		}
		if _, err := parse(row.args, io.Discard); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%v with %s=%q: %v", row.args, row.name, row.value, err)
		}
	}
}

func TestDefaultsOfAContainer(t *testing.T) {
	clean(t)
	t.Setenv("BELFRY_DATABASE_URL", "postgres://h/db")
	o, err := parse(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	s := o.settings
	if s.Addr != ":8080" || s.HealthAddr != ":8081" || s.LogFormat != "json" || s.StopGrace.Seconds() != 4 || o.roles.String() != "all" || !o.migrate {
		t.Errorf("%+v", o)
	}
	var help strings.Builder
	if _, err := parse([]string{"-help"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-role") {
		t.Errorf("%v: %s", err, help.String())
	}
}

// Every flag, whoever adds it, is meant where it is given.
func TestNoFlagIsMeantAsNothing(t *testing.T) {
	clean(t)
	t.Setenv("BELFRY_DATABASE_URL", "postgres://h/db")
	cmdlinetest.Walk(t, func(args []string, errs io.Writer) error { _, err := parse(args, errs); return err })
}
