package aws_test

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/belfry-dev/belfry/adapters/aws"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// TestSecret: a secret without a value reads as empty, a written value is read back, and a missing secret is an error.
func TestSecret(t *testing.T) {
	t.Setenv("AWS_ENDPOINT_URL", testenv.SQS(t))
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_REGION", "us-east-1") // the ARN's region takes precedence
	loaded, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("eu-west-1"))
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprint("secret-", time.Now().UnixNano())
	made, err := secretsmanager.NewFromConfig(loaded).CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	secret, err := aws.OpenSecret(t.Context(), *made.ARN)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := secret.Read(t.Context()); text != "" || err != nil {
		t.Errorf("empty: %q, %v", text, err)
	}
	for _, want := range []string{"first", `{"a": "é"}`} {
		if err := secret.Write(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if text, err := secret.Read(t.Context()); text != want || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	}
	other, err := aws.OpenSecret(t.Context(), *made.ARN+"x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Read(t.Context()); err == nil {
		t.Error("a secret that is not there was read")
	}
}

// TestSecretARN: which texts name a secret, and which are values.
func TestSecretARN(t *testing.T) {
	for value, want := range map[string]bool{
		"arn:aws:secretsmanager:eu-west-1:123456789012:secret:belfry-Ab12":            true,
		"arn:aws-cn:secretsmanager:cn-north-1:123456789012:secret:rds!db-1a2b-3c4d/x": true, // names chosen by RDS
		"arn:aws-us-gov:secretsmanager:us-gov-west-1:123456789012:secret:a/b+c=d.e@f": true,
		"arn:aws:ssm:eu-west-1:123456789012:parameter/x":                              false,
		"postgres://u:p@h/d": false, "": false, "whsec_abc": false,
	} {
		if aws.IsSecretARN(value) != want {
			t.Errorf("%s: %v", value, !want)
		}
	}
}

// TestDatabaseURL: a secret holds a URL or RDS's own form. Errors do not contain the secret's text.
func TestDatabaseURL(t *testing.T) {
	for text, want := range map[string]string{
		" postgres://u:p@h/d?sslmode=require\n":                                                       "postgres://u:p@h/d?sslmode=require",
		`{"username":"u","password":"p@/ ?","host":"h","port":5433,"dbname":"d","engine":"postgres"}`: "postgres://u:p%40%2F%20%3F@h:5433/d?sslmode=verify-full",
		`{"username":"u","password":"p","host":"h","port":"5432"}`:                                    "postgres://u:p@h:5432/belfry?sslmode=verify-full",
		`{"username":"u","password":"p","host":"::1"}`:                                                "postgres://u:p@[::1]:5432/belfry?sslmode=verify-full",
	} {
		if got, err := aws.DatabaseURL(text); got != want || err != nil {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{`{"username":"u","password":"hunter2"}`, `{"username":"hunter2"}`, `{hunter2`, `{"username":"u","password":"hunter2","host":"h","port":"x"}`, `{"username":"u","password":"hunter2","host":"h","port":70000}`} {
		if got, err := aws.DatabaseURL(text); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	login, err := aws.ReadDatabaseLogin(`{"username":"master","password":"p"}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := login.URL("postgres://db.example:5432/belfry?sslmode=verify-full"); err != nil || got != "postgres://master:p@db.example:5432/belfry?sslmode=verify-full" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestRDSRoots: all certificates can be read, are authorities, and are valid for years.
func TestRDSRoots(t *testing.T) {
	rest, err := os.ReadFile("rds.pem")
	if err != nil {
		t.Fatal(err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(rest) {
		t.Error("no certificate was read")
	}
	count := 0
	for block := (*pem.Block)(nil); ; count++ {
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		root, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if !root.IsCA || root.NotAfter.Before(time.Now().AddDate(5, 0, 0)) || root.CheckSignatureFrom(root) != nil || !strings.HasPrefix(root.Subject.CommonName, "Amazon RDS ") {
			t.Errorf("%s, until %s", root.Subject, root.NotAfter)
		}
	}
	if count < 60 {
		t.Errorf("%d certificates", count)
	}
}
