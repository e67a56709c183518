package rietest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/belfry-dev/belfry/functions/migrate"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// vault makes secrets for a test, and reads them.
type vault struct {
	client   *secretsmanager.Client
	endpoint string
}

func newVault(t *testing.T) vault {
	t.Helper()
	endpoint := testenv.SQS(t) // moto's, which has all of AWS
	o := secretsmanager.Options{Region: "eu-west-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
	return vault{secretsmanager.New(o), endpoint}
}

// create makes a secret, with no value where text is empty.
func (v vault) create(t *testing.T, text string) (arn string) {
	t.Helper()
	input := &secretsmanager.CreateSecretInput{Name: sdk.String(fmt.Sprint("rie-", time.Now().UnixNano()))}
	if text != "" {
		input.SecretString = &text
	}
	made, err := v.client.CreateSecret(t.Context(), input)
	if err != nil {
		t.Fatal(err)
	}
	return *made.ARN
}

func (v vault) read(t *testing.T, arn string) string {
	t.Helper()
	got, err := v.client.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		t.Fatal(err)
	}
	return *got.SecretString
}

// TestMigrate: from an empty database and empty secrets to an API that knows the token which was made, and takes webhooks. The
// password of who migrates, and the address of the others, come from secrets too.
func TestMigrate(t *testing.T) {
	address, secrets := testenv.Postgres(t), newVault(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	login, err := json.Marshal(map[string]string{"username": u.User.Username(), "password": password})
	if err != nil {
		t.Fatal(err)
	}
	u.User = nil
	token, signing := secrets.create(t, ""), secrets.create(t, "")
	f := start(t, "migrate", 300, "AWS_ENDPOINT_URL="+secrets.endpoint, "BELFRY_DATABASE_URL="+u.String(),
		"BELFRY_DEPLOY_LOGIN_SECRET="+secrets.create(t, string(login)), "BELFRY_DEPLOY_ADMIN_TOKEN_SECRET="+token,
		"BELFRY_DEPLOY_WEBHOOK_SECRETS_SECRET="+signing)
	invoke := func(event string) migrate.Report {
		said := f.invoke(t, json.RawMessage(event))
		var report migrate.Report
		if err := json.Unmarshal(said, &report); err != nil || !report.Migrated {
			t.Fatalf("%s: %v", said, err)
		}
		return report
	}
	if report := invoke(`{}`); report.AdminToken != "made" || report.WebhookSecrets != "made" {
		t.Errorf("%+v", report)
	}
	first := secrets.read(t, token)
	if report := invoke(`{"version":"2"}`); report.AdminToken != "kept" || report.WebhookSecrets != "kept" || secrets.read(t, token) != first {
		t.Errorf("%+v", report)
	}
	if report := invoke(`{"rotate":["admin_token"]}`); report.AdminToken != "made" || secrets.read(t, token) == first {
		t.Errorf("%+v", report)
	}
	if said := string(f.invoke(t, json.RawMessage(`{"rotate":["everything"]}`))); !strings.Contains(said, "want admin_token or webhook_secrets") {
		t.Errorf("%s", said)
	}

	served := start(t, "api", 20, "AWS_ENDPOINT_URL="+secrets.endpoint, "BELFRY_DATABASE_URL="+secrets.create(t, address), "BELFRY_WEBHOOK_SECRETS="+signing)
	for text, want := range map[string]int{secrets.read(t, token): 201, first: 401} {
		event := request(t, "function-url.json", "POST", "/v1/jobs", "", `{"type":"hook","target":{"url":"https://example.com/"},"delay":"1h"}`)
		event.Headers["authorization"] = "Bearer " + text
		if answer := buffered(t, served.invoke(t, event)); answer.StatusCode != want {
			t.Errorf("%+v, want %d", answer, want)
		}
	}
	if log := f.log.String() + served.log.String(); strings.Contains(log, first) || strings.Contains(log, password) && len(password) > 4 {
		t.Error("a secret is in the log")
	}
}
