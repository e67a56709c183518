package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
)

// secretARN matches the ARN of a secret in Secrets Manager, which settings may contain instead of a value.
var secretARN = regexp.MustCompile(`^arn:aws[a-z-]*:secretsmanager:([a-z0-9-]+):[0-9]{12}:secret:[A-Za-z0-9/_+=.@!-]+$`)

// IsSecretARN reports whether a setting's value names a secret instead of being the value.
func IsSecretARN(value string) bool { return secretARN.MatchString(value) }

// Secret is one secret of Secrets Manager.
type Secret struct {
	arn    string
	client *secretsmanager.Client
}

// OpenSecret makes the client for a secret, in the secret's region. It makes no calls.
func OpenSecret(ctx context.Context, arn string) (*Secret, error) {
	found := secretARN.FindStringSubmatch(arn)
	if found == nil {
		return nil, fmt.Errorf("aws: %q is not the ARN of a secret in Secrets Manager", arn)
	}
	loaded, err := config.LoadDefaultConfig(ctx, config.WithRegion(found[1]))
	if err != nil {
		return nil, fmt.Errorf("aws: secret: %w", err)
	}
	return &Secret{arn, secretsmanager.NewFromConfig(loaded)}, nil
}

// Read returns the secret's text, or "" if it has no value yet.
func (s *Secret) Read(ctx context.Context) (string, error) {
	got, err := s.client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &s.arn})
	if missing := (*types.ResourceNotFoundException)(nil); errors.As(err, &missing) {
		// A secret without a value and a missing secret give the same error. Describe tells them apart.
		if _, err := s.client.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &s.arn}); err != nil {
			return "", fmt.Errorf("aws: read secret %s: %w", s.arn, err)
		}
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("aws: read secret %s: %w", s.arn, err)
	}
	return aws.ToString(got.SecretString), nil
}

// Write replaces the secret's text. The old text stays readable as the previous version.
func (s *Secret) Write(ctx context.Context, text string) error {
	if _, err := s.client.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{SecretId: &s.arn, SecretString: &text}); err != nil {
		return fmt.Errorf("aws: write secret %s: %w", s.arn, err)
	}
	return nil
}

// DatabaseLogin is a secret in RDS's form. The managed secret of a database has only user and password; one made for clients
// has the other fields too.
type DatabaseLogin struct {
	Username string      `json:"username"`
	Password string      `json:"password"`
	Host     string      `json:"host"`
	Port     json.Number `json:"port"`
	Database string      `json:"dbname"`
}

// defaultDatabase is the database of a secret that names none.
const defaultDatabase = "belfry"

// ReadDatabaseLogin reads a secret in that form. Its errors do not contain any part of it.
func ReadDatabaseLogin(text string) (DatabaseLogin, error) {
	var login DatabaseLogin
	if err := json.Unmarshal([]byte(text), &login); err != nil || login.Username == "" || login.Password == "" {
		return login, errors.New(`aws: the secret is not a database's: want JSON with username and password`)
	}
	if n, err := strconv.Atoi(login.Port.String()); login.Port != "" && (err != nil || n < 1 || n > 65535) {
		return login, errors.New("aws: the secret's port is not one")
	}
	return login, nil
}

// URL returns the address with the login. Host, port and database come from address or, if that is empty, from the secret.
// The connection uses TLS and checks the server.
func (l DatabaseLogin) URL(address string) (string, error) {
	u := &url.URL{Scheme: "postgres", RawQuery: "sslmode=verify-full"}
	if address != "" {
		var err error
		if u, err = url.Parse(address); err != nil {
			return "", errors.New("aws: the database's address is not a URL (it is not shown: it may hold a password)")
		}
	} else {
		if l.Host == "" {
			return "", errors.New("aws: the secret names no host: want JSON with host, port, dbname, username and password, or a URL")
		}
		port, database := l.Port.String(), l.Database
		if port == "" {
			port = portOfPostgres
		}
		if database == "" {
			database = defaultDatabase
		}
		u.Host, u.Path = net.JoinHostPort(l.Host, port), "/"+database
	}
	u.User = url.UserPassword(l.Username, l.Password)
	return u.String(), nil
}

// DatabaseURL returns the address in a secret's text: a URL, or a DatabaseLogin with a host.
func DatabaseURL(text string) (string, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		return text, nil
	}
	login, err := ReadDatabaseLogin(text)
	if err != nil {
		return "", err
	}
	return login.URL("")
}
