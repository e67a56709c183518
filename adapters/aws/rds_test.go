package aws

import (
	"strings"
	"testing"
)

const rdsURL = "postgres://belfry@db.c1a2b3.eu-central-1.rds.amazonaws.com/belfry?sslmode=verify-full"

func TestDatabaseTokens(t *testing.T) {
	t.Setenv("AWS_REGION", "us-east-1")
	tokens, err := NewDatabaseTokens(t.Context(), rdsURL)
	if err != nil {
		t.Fatal(err)
	}
	token, err := tokens.Password(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(token, "db.c1a2b3.eu-central-1.rds.amazonaws.com:5432?Action=connect&DBUser=belfry&") {
		t.Errorf("a token of another form: %.90s", token)
	}
	for what, damaged := range map[string]string{
		"endpoint": strings.Replace(token, "db.", "dc.", 1), "user": strings.Replace(token, "DBUser=belfry", "DBUser=other", 1),
		"region": strings.Replace(token, "eu-central-1%2Frds-db", "eu-west-1%2Frds-db", 1), "signature": token[:len(token)-1],
		"time": strings.Replace(token, "X-Amz-Expires", "X-Amz-Never", 1),
	} {
		if damaged == token {
			t.Errorf("%s: nothing was damaged: %s", what, token)
		}
		if tokens.check(damaged) == nil {
			t.Errorf("a token with a wrong %s passes", what)
		}
	}
	for _, bad := range []string{"postgres://h.example/db", "postgres:///db", "::"} {
		if _, err := NewDatabaseTokens(t.Context(), bad); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
