package aws

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/rds/auth"
)

// DatabaseTokens signs the tokens that Amazon RDS accepts as passwords. A token is for one user of one endpoint and is valid
// for 15 minutes of connecting. Each connection gets a new one, signed with credentials that the SDK renews. It needs no
// call.
type DatabaseTokens struct {
	endpoint, region, user string
	credentials            aws.CredentialsProvider
}

const portOfPostgres = "5432"

// NewDatabaseTokens reads user and endpoint from the database's URL. The credentials come from the usual places of AWS's
// tools, and so does the region; otherwise the region comes from the endpoint's name.
func NewDatabaseTokens(ctx context.Context, databaseURL string) (*DatabaseTokens, error) {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return nil, errors.New("aws: database tokens: the database's address is not a URL (it is not shown: it may hold a password)")
	}
	if u.Hostname() == "" || u.User.Username() == "" {
		return nil, errors.New("aws: database tokens: want an address with host and user, postgres://USER@HOST:PORT/DATABASE")
	}
	loaded, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("aws: database tokens: %w", err)
	}
	port := u.Port()
	if port == "" {
		port = portOfPostgres
	}
	t := &DatabaseTokens{net.JoinHostPort(u.Hostname(), port), regionOf(u.Hostname()), u.User.Username(), loaded.Credentials}
	if t.region == "" {
		t.region = loaded.Region
	}
	if t.region == "" {
		return nil, errors.New("aws: database tokens: no region: set AWS_REGION")
	}
	return t, nil
}

// regionOf returns the region in an endpoint's name, such as belfry.c1a2b3.eu-west-1.rds.amazonaws.com.
func regionOf(host string) string {
	name, ok := strings.CutSuffix(strings.TrimSuffix(host, ".cn"), ".rds.amazonaws.com")
	if !ok {
		return ""
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}

// Password signs a token.
func (t *DatabaseTokens) Password(ctx context.Context) (string, error) {
	token, err := auth.BuildAuthToken(ctx, t.endpoint, t.region, t.user, t.credentials)
	if err == nil {
		err = t.check(token)
	}
	if err != nil {
		return "", fmt.Errorf("aws: sign in at the database: %w", err)
	}
	return token, nil
}

var signature = regexp.MustCompile(`^[0-9a-f]{64}$`)

// check checks a token's form, so that a fault shows here and not as a wrong password.
func (t *DatabaseTokens) check(token string) error {
	u, err := url.Parse("https://" + token)
	if err != nil || u.Host != t.endpoint || strings.Trim(u.Path, "/") != "" {
		return errors.New("the token is not for this endpoint")
	}
	q := u.Query()
	scope := strings.Split(q.Get("X-Amz-Credential"), "/")
	switch {
	case q.Get("Action") != "connect" || q.Get("DBUser") != t.user:
		return errors.New("the token is not for this user")
	case q.Get("X-Amz-Algorithm") != "AWS4-HMAC-SHA256" || !signature.MatchString(q.Get("X-Amz-Signature")):
		return errors.New("the token is not signed")
	case len(scope) != 5 || scope[0] == "" || scope[2] != t.region || scope[3] != "rds-db" || scope[4] != "aws4_request":
		return errors.New("the token's credential is not for RDS in this region")
	case q.Get("X-Amz-Expires") == "" || q.Get("X-Amz-Date") == "" || q.Get("X-Amz-SignedHeaders") != "host":
		return errors.New("the token has no time")
	}
	return nil
}
