package cloudruntest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"text/template"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/belfry-dev/belfry/internal/terraformtest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// moduleRun applies the module with a provider that makes nothing and answers what Google Cloud would: identities, addresses.
var moduleRun = template.Must(template.New("").Parse(`
mock_provider "google" {
  mock_data "google_project" {
    defaults = { number = "123456789012" }
  }
  mock_resource "google_sql_database_instance" {
    defaults = { connection_name = "{{.Project}}:europe-west1:{{.Name}}" }
  }
}
{{range .Accounts}}
override_resource {
  target = google_service_account.{{.}}
  values = {
    email  = "{{$.Name}}-{{.}}@p.iam.gserviceaccount.com"
    member = "serviceAccount:{{$.Name}}-{{.}}@p.iam.gserviceaccount.com"
    name   = "projects/{{$.Project}}/serviceAccounts/{{$.Name}}-{{.}}@p.iam.gserviceaccount.com"
  }
}
{{end}}
{{range $address, $name := .Topics}}
override_resource {
  target = google_pubsub_topic.{{$address}}
  values = { id = "projects/{{$.Project}}/topics/{{$name}}" }
}
{{end}}
{{range $address, $host := .Services}}
override_resource {
  target = google_cloud_run_v2_service.{{$address}}
  values = { uri = "https://{{$host}}.example" }
}
{{end}}
{{range $address, $secret := .Secrets}}
override_resource {
  target = google_secret_manager_secret.{{$address}}
  values = { id = "projects/p/secrets/{{$secret}}" }
}
{{end}}
variables {
  project        = "{{.Project}}"
  region         = "europe-west1"
  name           = "{{.Name}}"
  alert_emails   = ["on-call@example.org"]
  run_migrations = false
  webhook_allow  = ["127.0.0.1/32"]
  images         = { api = "a.example/api:v1", tick = "a.example/tick:v1", worker = "a.example/worker:v1", migrate = "a.example/migrate:v1" }
}

run "applied" {}
`))

// module is the module for Google Cloud as it was applied, and what stands for the services around it.
type module struct {
	t       *testing.T
	state   []terraformtest.Resource
	issuer  *Issuer
	keys    string
	address string // of the database
	pubsub  string
	secrets *secretManager

	mu       sync.Mutex
	services map[string]*function // by the host that the module was told
}

// apply applies the module and prepares what its programs find in Google Cloud: a database with their users, secrets without
// versions.
func apply(t *testing.T, name string) *module {
	t.Helper()
	f := terraformtest.Copy(t, "../../infra/terraform/gcp", ".", "hashicorp/google", "hashicorp/random")
	var text bytes.Buffer
	err := moduleRun.Execute(&text, map[string]any{
		"Project": project, "Name": name, "Accounts": []string{"api", "tick", "worker", "migrate", "push", "scheduler"},
		"Topics": map[string]string{
			`queue["critical"]`: name + "-critical", `queue["default"]`: name + "-default", `queue["bulk"]`: name + "-bulk",
			`dead["critical"]`: name + "-critical-dead", `dead["default"]`: name + "-default-dead", `dead["bulk"]`: name + "-bulk-dead",
			"wake[0]": name + "-wake",
		},
		"Services": map[string]string{`worker["critical"]`: "critical", `worker["default"]`: "default", `worker["bulk"]`: "bulk", "tick": "tick", "api": "api"},
		"Secrets":  map[string]string{"admin_token": "token", "webhook[0]": "webhooks"},
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(f.Dir, "tests", "work.tftest.hcl"), text.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Init(t)
	m := &module{t: t, issuer: NewIssuer(t), pubsub: testenv.PubSub(t), address: testenv.Postgres(t), services: map[string]*function{}}
	m.state = f.Applied(t, "tests/work.tftest.hcl")
	m.keys = m.issuer.Serve(t)
	m.secrets = newSecretManager(t, "token", "webhooks")
	return m
}

// only returns the resource of an address in the state.
func (m *module) only(address string) map[string]any {
	m.t.Helper()
	for _, r := range m.state {
		if r.Address == address {
			return r.Values
		}
	}
	m.t.Fatalf("the module makes no %s", address)
	return nil
}

// block goes down nested blocks of which there is one each.
func block(t *testing.T, values map[string]any, names ...string) map[string]any {
	t.Helper()
	for _, name := range names {
		list, _ := values[name].([]any)
		if len(list) != 1 {
			t.Fatalf("%d blocks %s", len(list), name)
		}
		values, _ = list[0].(map[string]any)
	}
	return values
}

// environment is what the module gives to a container, with the emulators in the place of Google's services: nothing else is
// changed, added or left out.
func (m *module) environment(container map[string]any) (env []string) {
	m.t.Helper()
	list, _ := container["env"].([]any)
	for _, one := range list {
		e, _ := one.(map[string]any)
		name, _ := e["name"].(string)
		value, _ := e["value"].(string)
		switch {
		case name == "BELFRY_DATABASE_URL":
			value = m.databaseURL(value)
		case strings.HasPrefix(name, "BELFRY_CLOUDSQL_"): // the server of the test is not one of Cloud SQL
			continue
		case strings.HasPrefix(value, "gcppubsubv2://"):
			separator := "?"
			if strings.Contains(value, "?") {
				separator = "&"
			}
			value += separator + "emulator=" + m.pubsub
		case strings.HasPrefix(value, "projects/p/secrets/"):
			value = m.secrets.setting(strings.TrimPrefix(value, "projects/p/secrets/"))
		case value == "":
			value = m.secrets.latest("webhooks") // the only secret that programs read from Secret Manager, but the migrations
			if name != "BELFRY_WEBHOOK_SECRETS" || value == "" {
				m.t.Errorf("%s has no value", name)
			}
		}
		env = append(env, name+"="+value)
	}
	return append(env, "BELFRY_CALLER_KEYS_URL="+m.keys)
}

// databaseURL keeps the user and the options of the module's, and leads to the server of the test.
func (m *module) databaseURL(of string) string {
	m.t.Helper()
	to, err := url.Parse(m.address)
	if err != nil {
		m.t.Fatal(err)
	}
	if of == "" { // that of the migrations is a secret
		return m.address
	}
	from, err := url.Parse(of)
	if err != nil || from.Host != "cloudsql" {
		m.t.Fatalf("the database is %s, %v", of, err)
	}
	to.User = url.UserPassword(from.User.Username(), "of-the-test")
	query := to.Query()
	for name, values := range from.Query() {
		query[name] = values
	}
	to.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return to.String()
}

// serve starts a service of the module.
func (m *module) serve(address, program string) *function {
	m.t.Helper()
	values := m.only(address)
	f := start(m.t, program, m.environment(block(m.t, values, "template", "containers"))...)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.services[values["uri"].(string)] = f
	return f
}

// call posts to an address that the module was told, with the token that Google would bring.
func (m *module) call(t *testing.T, address string, oidc map[string]any, body []byte) int {
	u, err := url.Parse(address)
	if err != nil {
		t.Errorf("%s: %v", address, err)
		return http.StatusBadGateway
	}
	m.mu.Lock()
	f := m.services["https://"+u.Host]
	m.mu.Unlock()
	if f == nil {
		return http.StatusServiceUnavailable
	}
	token := m.issuer.Token(t, map[string]any{"aud": oidc["audience"], "email": oidc["service_account_email"]})
	status, err := f.post(t.Context(), u.Path, token, body)
	if err != nil {
		return http.StatusBadGateway
	}
	return status
}

// queues makes the topics and subscriptions of the module on the emulator. What it pushes gets its token on the way.
func (m *module) queues(p *pushes) {
	t := m.t
	t.Helper()
	for _, r := range m.state {
		if r.Type == "google_pubsub_topic" {
			name := "projects/" + project + "/topics/" + r.Values["name"].(string)
			if _, err := p.client.TopicAdminClient.CreateTopic(t.Context(), &pubsubpb.Topic{Name: name}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, r := range m.state {
		if r.Type != "google_pubsub_subscription" {
			continue
		}
		name := "projects/" + project + "/subscriptions/" + r.Values["name"].(string)
		made := &pubsubpb.Subscription{Name: name, Topic: r.Values["topic"].(string)}
		if seconds, _ := r.Values["ack_deadline_seconds"].(float64); seconds > 0 {
			made.AckDeadlineSeconds = int32(seconds)
		}
		if list, _ := r.Values["push_config"].([]any); len(list) == 1 {
			config := block(t, r.Values, "push_config")
			oidc := block(t, config, "oidc_token")
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return
				}
				w.WriteHeader(m.call(t, config["push_endpoint"].(string), oidc, body))
			}))
			t.Cleanup(server.Close)
			made.PushConfig = &pubsubpb.PushConfig{PushEndpoint: server.URL}
			made.RetryPolicy = &pubsubpb.RetryPolicy{MinimumBackoff: durationpb.New(100 * time.Millisecond), MaximumBackoff: durationpb.New(time.Second)}
		}
		if _, err := p.client.SubscriptionAdminClient.CreateSubscription(t.Context(), made); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = p.client.SubscriptionAdminClient.DeleteSubscription(t.Context(), &pubsubpb.DeleteSubscriptionRequest{Subscription: name})
		})
	}
}

// migrate makes the users that the module makes in the database, and runs its job.
func (m *module) migrate() {
	t := m.t
	t.Helper()
	conn, err := pgx.Connect(t.Context(), m.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, r := range m.state {
		if r.Type == "google_sql_user" && r.Values["type"] == "CLOUD_IAM_SERVICE_ACCOUNT" {
			if _, err := conn.Exec(t.Context(), fmt.Sprintf("CREATE ROLE %q LOGIN PASSWORD 'of-the-test'", r.Values["name"])); err != nil {
				t.Fatal(err)
			}
		}
	}
	job := m.only("google_cloud_run_v2_job.migrate")
	if said, err := migrate(t, nil, m.environment(block(t, job, "template", "template", "containers"))...); err != nil {
		t.Fatal(said, err)
	}
}

// TestModule: the programs run with the environment, the accounts, the queues and the database users of the Terraform module. A
// job of each priority, one for later, one of a schedule and one with a target are submitted with the token that the migrations
// made, and end done.
func TestModule(t *testing.T) {
	m := apply(t, fmt.Sprintf("m%d", time.Now().UnixNano()%1e9))
	p := newPushes(t, m.issuer)
	m.migrate()
	m.queues(p)
	for _, priority := range []string{"critical", "default", "bulk"} {
		m.serve(fmt.Sprintf("google_cloud_run_v2_service.worker[%q]", priority), "worker")
	}
	m.serve("google_cloud_run_v2_service.tick", "tick")
	api := m.serve("google_cloud_run_v2_service.api", "api")
	token := m.secrets.latest("token")

	var delivered sync.Map
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		delivered.Store(r.Header.Get("webhook-id"), r.Header.Get("webhook-signature"))
	}))
	t.Cleanup(target.Close)
	for _, body := range []string{
		`{"type":"echo","priority":"critical"}`, `{"type":"echo"}`, `{"type":"echo","priority":"bulk"}`,
		`{"type":"echo","delay":"1s"}`, `{"type":"hook","target":{"url":"` + target.URL + `"}}`,
	} {
		if status, said := ask(t, api, "POST", "/v1/jobs", token, body); status != 201 {
			t.Fatal(body, status, said)
		}
	}
	if status, said := ask(t, api, "PUT", "/v1/schedules/often", token, `{"every":"5s","type":"scheduled","target":{"url":"`+target.URL+`"}}`); status/100 != 2 {
		t.Fatal(status, said)
	}
	m.until(api, token, map[string]int{"echo": 4, "hook": 1, "scheduled": 1})
	n := 0
	delivered.Range(func(_, signature any) bool {
		n++
		if !strings.HasPrefix(signature.(string), "v1,") {
			t.Errorf("signed with %q", signature)
		}
		return true
	})
	if n < 2 {
		t.Errorf("%d deliveries", n)
	}
}

// until lets the scheduler job of the module call the tick, once, and waits until so many jobs of each type are done.
func (m *module) until(api *function, token string, want map[string]int) {
	t := m.t
	t.Helper()
	job := m.only(`google_cloud_scheduler_job.tick["even"]`)
	to := block(t, job, "http_target")
	tick := m.services[m.only("google_cloud_run_v2_service.tick")["uri"].(string)]
	answered := make(chan int, 1)
	go func() { answered <- m.call(t, to["uri"].(string), block(t, to, "oidc_token"), nil) }()
	await(t, fmt.Sprintf("done are %v", want), func() bool {
		for jobType, n := range want {
			_, said := ask(t, api, "GET", "/v1/jobs?status=done&type="+jobType, token, "")
			var list struct{ Items []json.RawMessage }
			if err := json.Unmarshal([]byte(said), &list); err != nil {
				t.Fatal(said)
			}
			if len(list.Items) < n {
				return false
			}
		}
		return true
	})
	tick.terminate(t) // the next run of the schedule is always near: the call would go on for all its time
	if status := <-answered; status != http.StatusNoContent {
		t.Errorf("the tick answers %d", status)
	}
}
