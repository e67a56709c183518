package doctor

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// awsStage is a deployment on an emulator of AWS, made through the same command line that doctor asks through.
type awsStage struct {
	t       *testing.T
	name    string
	outputs map[string]any
}

// aws runs a command and returns what its answer holds under a name, "" for none.
func (s *awsStage) aws(want string, args ...string) string {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), "aws", append(args, "--region", "eu-west-1", "--output", "json", "--endpoint-url", os.Getenv("AWS_ENDPOINT_URL"))...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("aws %v: %v: %s", args, err, out)
	}
	if want == "" {
		return ""
	}
	var answer map[string]any
	if err := json.Unmarshal(out, &answer); err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprint(answer[want])
}

const workerPolicy = `{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["sqs:ReceiveMessage", "sqs:DeleteMessage"], "Resource": "arn:aws:sqs:eu-west-1:123456789012:jobs"}]}`

func newAWSStage(t *testing.T) *awsStage {
	t.Helper()
	testenv.Program(t, "aws")
	t.Setenv("AWS_ENDPOINT_URL", testenv.SQS(t)) // moto's, which has all of AWS
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_PAGER", "")
	s := &awsStage{t: t, name: fmt.Sprintf("doctor-%d", time.Now().UnixNano())}
	queue, dead := s.aws("QueueUrl", "sqs", "create-queue", "--queue-name", s.name), s.aws("QueueUrl", "sqs", "create-queue", "--queue-name", s.name+"-dead")
	s.aws("", "iam", "create-role", "--role-name", s.name, "--assume-role-policy-document", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"},"Action":"sts:AssumeRole"}]}`)
	s.aws("", "iam", "put-role-policy", "--role-name", s.name, "--policy-name", "worker", "--policy-document", workerPolicy)
	s.aws("", "lambda", "create-function", "--function-name", s.name, "--runtime", "provided.al2023", "--handler", "bootstrap", "--role", "arn:aws:iam::123456789012:role/"+s.name, "--zip-file", "fileb://"+s.code())
	mapping := s.aws("UUID", "lambda", "create-event-source-mapping", "--function-name", s.name, "--event-source-arn", "arn:aws:sqs:eu-west-1:123456789012:"+s.name, "--function-response-types", "ReportBatchItemFailures")
	s.aws("", "scheduler", "create-schedule-group", "--name", s.name)
	s.schedule("create-schedule", "ENABLED")
	s.aws("", "logs", "create-log-group", "--log-group-name", s.name)
	s.aws("", "logs", "create-log-stream", "--log-group-name", s.name, "--log-stream-name", "a")
	var policy struct{ Statement json.RawMessage }
	if err := json.Unmarshal([]byte(workerPolicy), &policy); err != nil {
		t.Fatal(err)
	}
	s.outputs = map[string]any{
		"cloud": "aws", "region": "eu-west-1", "functions": map[string]string{"tick": s.name}, "mappings": map[string]string{"default": mapping},
		"schedule": map[string]string{"group": s.name, "name": s.name}, "tick_log": s.name, "queues": map[string]string{"default": queue},
		"dead_queues": map[string]string{"default": dead}, "rights": map[string]any{s.name: policy.Statement},
	}
	return s
}

func (s *awsStage) code() string {
	s.t.Helper()
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	if _, err := z.Create("bootstrap"); err != nil {
		s.t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		s.t.Fatal(err)
	}
	name := filepath.Join(s.t.TempDir(), "code.zip")
	if err := os.WriteFile(name, packed.Bytes(), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return name
}

func (s *awsStage) schedule(act, state string) {
	s.t.Helper()
	s.aws("", "scheduler", act, "--group-name", s.name, "--name", s.name, "--state", state, "--schedule-expression", "rate(1 minute)", "--flexible-time-window", "Mode=OFF",
		"--target", fmt.Sprintf(`{"Arn": "arn:aws:lambda:eu-west-1:123456789012:function:%s", "RoleArn": "arn:aws:iam::123456789012:role/%[1]s"}`, s.name))
}

func (s *awsStage) record(at time.Time) {
	s.t.Helper()
	s.aws("", "logs", "put-log-events", "--log-group-name", s.name, "--log-stream-name", "a", "--log-events", fmt.Sprintf(`[{"timestamp": %d, "message": "{\"msg\":\"state\"}"}]`, at.UnixMilli()))
}

// look is what doctor finds of the deployment.
func (s *awsStage) look() findings {
	s.t.Helper()
	text, err := json.Marshal(map[string]any{"deployment": map[string]any{"sensitive": false, "value": s.outputs}})
	if err != nil {
		s.t.Fatal(err)
	}
	d, err := readDeployment("-", bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	a := &console.App{Now: time.Now, Env: os.LookupEnv}
	var f findings
	checkDeployment(s.t.Context(), a, &f, d)
	return f
}

func text(f findings) string {
	var all strings.Builder
	for _, found := range f {
		fmt.Fprintln(&all, found.State, found.Check, found.Text)
	}
	return all.String()
}

// What is wrong with a deployment on AWS is named, each by itself.
func TestDoctorLooksAtADeploymentOnAWS(t *testing.T) {
	s := newAWSStage(t)
	s.record(time.Now().Add(-time.Minute))
	if f := s.look(); states(t, f) != "functions: ok, mappings: ok, schedule: ok, tick: ok, dead queues: ok, rights: ok" {
		t.Fatal(text(f))
	}
	s.aws("", "sqs", "send-message", "--queue-url", s.outputs["dead_queues"].(map[string]string)["default"], "--message-body", "damaged")
	s.aws("", "iam", "put-role-policy", "--role-name", s.name, "--policy-name", "worker", "--policy-document", strings.Replace(workerPolicy, `, "sqs:DeleteMessage"`, "", 1))
	s.schedule("update-schedule", "DISABLED")
	s.aws("", "lambda", "update-event-source-mapping", "--uuid", s.outputs["mappings"].(map[string]string)["default"], "--no-enabled")
	s.aws("", "logs", "delete-log-stream", "--log-group-name", s.name, "--log-stream-name", "a")
	s.outputs["functions"] = map[string]string{"tick": s.name + "-gone"}
	f := s.look()
	states(t, f)
	found := text(f)
	for _, want := range []string{
		"broken functions " + s.name + "-gone: ", "broken mappings the mapping of the default queue is ", "broken schedule " + s.name + " is DISABLED",
		"broken tick no record in 5m", "warning dead queues 1 messages of the default queue", "broken rights " + s.name + " may not sqs:DeleteMessage on arn:aws:sqs:eu-west-1:123456789012:jobs",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("want %q in\n%s", want, found)
		}
	}
}

// gcloudStage plays gcloud: a script that answers each question from a file. Nothing here ran against Google.
type gcloudStage struct {
	t   *testing.T
	dir string
}

func newGcloudStage(t *testing.T) *gcloudStage {
	t.Helper()
	s := &gcloudStage{t, t.TempDir()}
	script := `#!/bin/sh
name=
for word in "$@"; do case $word in --*) break;; *) name="$name $word";; esac; done
file="` + s.dir + `/$(echo $name | tr ' /"' '___' | cut -c1-60).json"
[ -f "$file" ] || { echo "ERROR: (gcloud) NOT_FOUND: $file" >&2; exit 1; }
cat "$file"
`
	if err := os.WriteFile(filepath.Join(s.dir, "gcloud"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", s.dir+":"+os.Getenv("PATH"))
	for question, answer := range map[string]string{
		"run services describe belfry-tick":               `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`,
		"scheduler jobs describe belfry-tick-even":        `{"state":"ENABLED","schedule":"*/2 * * * *"}`,
		"logging read resource.type=":                     fmt.Sprintf(`[{"timestamp":%q}]`, time.Now().Add(-time.Minute).Format(time.RFC3339Nano)),
		"pubsub subscriptions describe belfry-bulk":       `{"state":"ACTIVE","deadLetterPolicy":{"maxDeliveryAttempts":5}}`,
		"pubsub subscriptions pull belfry-bulk-dead":      `[]`,
		"sql instances describe belfry":                   `{"state":"RUNNABLE","settings":{"activationPolicy":"ALWAYS","backupConfiguration":{"enabled":true}}}`,
		"pubsub topics get-iam-policy belfry-bulk":        `{"bindings":[{"role":"roles/pubsub.publisher","members":["serviceAccount:a@p.iam"]}]}`,
		"pubsub subscriptions get-iam-policy belfry-bulk": `{"bindings":[{"role":"roles/pubsub.subscriber","members":["serviceAccount:b@p.iam"]}]}`,
		"run services get-iam-policy belfry-tick":         `{"bindings":[{"role":"roles/run.invoker","members":["serviceAccount:c@p.iam"]}]}`,
		"secrets get-iam-policy belfry-admin-token":       `{"bindings":[{"role":"roles/secretmanager.secretAccessor","members":["serviceAccount:d@p.iam"]}]}`,
		"projects get-iam-policy p":                       `{"bindings":[{"role":"roles/cloudsql.client","members":["serviceAccount:e@p.iam"]}]}`,
	} {
		s.answer(question, answer)
	}
	return s
}

func (s *gcloudStage) answer(question, answer string) {
	s.t.Helper()
	name := strings.NewReplacer(" ", "_", "/", "_", `"`, "_").Replace(question)
	if strings.HasPrefix(question, "logging") { // the filter is long
		name = (name + strings.NewReplacer(" ", "_", "/", "_", `"`, "_").Replace(`"cloud_run_revision" resource.labels.service_name=`))[:60]
	}
	if err := os.WriteFile(filepath.Join(s.dir, name+".json"), []byte(answer), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *gcloudStage) look() findings {
	s.t.Helper()
	d, err := readDeployment("-", strings.NewReader(`{"belfry": {"value": {"deployment": {"cloud": "gcp", "project": "p", "region": "europe-west1",
		"services": {"tick": "belfry-tick"}, "scheduler_jobs": ["belfry-tick-even"], "subscriptions": {"bulk": "belfry-bulk"}, "dead_subscriptions": {"bulk": "belfry-bulk-dead"}, "database": "belfry",
		"rights": [
			{"on": "topic", "name": "belfry-bulk", "role": "roles/pubsub.publisher", "member": "serviceAccount:a@p.iam"},
			{"on": "subscription", "name": "belfry-bulk", "role": "roles/pubsub.subscriber", "member": "serviceAccount:b@p.iam"},
			{"on": "service", "name": "belfry-tick", "role": "roles/run.invoker", "member": "serviceAccount:c@p.iam"},
			{"on": "secret", "name": "belfry-admin-token", "role": "roles/secretmanager.secretAccessor", "member": "serviceAccount:d@p.iam"},
			{"on": "project", "name": "p", "role": "roles/cloudsql.client", "member": "serviceAccount:e@p.iam"}
		]}}}}`))
	if err != nil {
		s.t.Fatal(err)
	}
	a := &console.App{Now: time.Now, Env: os.LookupEnv}
	var f findings
	checkDeployment(s.t.Context(), a, &f, d)
	return f
}

// What is wrong with a deployment on Google Cloud is named, each by itself.
func TestDoctorLooksAtADeploymentOnGoogleCloud(t *testing.T) {
	s := newGcloudStage(t)
	if f := s.look(); states(t, f) != "services: ok, schedule: ok, tick: ok, queues: ok, dead letters: ok, instance: ok, rights: ok" {
		t.Fatal(text(f))
	}
	for _, c := range []struct{ question, answer, want string }{
		{"run services describe belfry-tick", `{"status":{"conditions":[{"type":"Ready","status":"False","message":"the image is missing"}]}}`, "broken services belfry-tick is not ready: the image is missing"},
		{"scheduler jobs describe belfry-tick-even", `{"state":"PAUSED"}`, "broken schedule belfry-tick-even is PAUSED"},
		{"logging read resource.type=", `[]`, "broken tick no record in 5m0s"},
		{"pubsub subscriptions describe belfry-bulk", `{"state":"ACTIVE"}`, "broken queues belfry-bulk has no dead letters"},
		{"pubsub subscriptions pull belfry-bulk-dead", `[{"message":{}}]`, "warning dead letters there are messages of the bulk queue"},
		{"sql instances describe belfry", `{"state":"STOPPED","settings":{"activationPolicy":"NEVER"}}`, "broken instance belfry is STOPPED"},
		{"pubsub topics get-iam-policy belfry-bulk", `{}`, "broken rights serviceAccount:a@p.iam has not roles/pubsub.publisher on the topic belfry-bulk"},
		{"projects get-iam-policy p", `not json`, "broken rights project p: the answer to projects get-iam-policy cannot be read"},
	} {
		s := newGcloudStage(t)
		s.answer(c.question, c.answer)
		if found := text(s.look()); !strings.Contains(found, c.want) {
			t.Errorf("%s: want %q in\n%s", c.question, c.want, found)
		}
	}
	if err := os.Remove(filepath.Join(s.dir, "sql_instances_describe_belfry.json")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", s.dir+":"+os.Getenv("PATH"))
	if found := text(s.look()); !strings.Contains(found, "broken instance belfry: ERROR: (gcloud) NOT_FOUND") {
		t.Errorf("an instance that is gone: %s", found)
	}
}

// A file that is not what Terraform printed is a wrong command line.
func TestDeploymentFilesAreRefused(t *testing.T) {
	for content, want := range map[string]string{
		"no json": "is not what `terraform output -json` prints",
		`{}`:      "has no output named deployment",
		`{"deployment": {"value": {"cloud": "azure"}}}`:             `for the cloud "azure", want aws or gcp`,
		`{"deployment": {"value": {"cloud": "aws", "rights": []}}}`: "the rights in the output deployment cannot be read",
	} {
		if _, err := readDeployment("-", strings.NewReader(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
}

func TestPolicyPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"*", "x", true}, {"a*", "a", true}, {"a*c", "abc", true}, {"a*c", "ac", true}, {"a*c", "abd", false},
		{"a*b*c", "axbyc", true}, {"a*b*c", "acb", false}, {"*:*", "sqs:SendMessage", true}, {"a:*", "a:*", true},
	} {
		if got := matches(c.pattern, c.text); got != c.want {
			t.Errorf("%s covers %s: %v", c.pattern, c.text, got)
		}
	}
}
