package gcp

import (
	"context"
	"fmt"
	"net"
	"time"

	"cloud.google.com/go/cloudsqlconn"
	"cloud.google.com/go/cloudsqlconn/instance"
)

// CloudSQLOptions configure the connection to an instance. The zero value is ready.
type CloudSQLOptions struct {
	// IAM signs in as the program's service account: the certificate contains its token, and the database needs no password.
	// Zero means that the database's address contains user and password.
	IAM bool
	// IP selects the instance's address: public, private or psc. Zero means public.
	IP string
}

// addresses of an instance, by IP.
var addresses = map[string]cloudsqlconn.DialOption{
	"": cloudsqlconn.WithPublicIP(), "public": cloudsqlconn.WithPublicIP(),
	"private": cloudsqlconn.WithPrivateIP(), "psc": cloudsqlconn.WithPSC(),
}

// CloudSQL connects to an instance of Cloud SQL through Google's connector: with TLS and certificates on both sides, without
// a list of allowed networks. It is safe for concurrent use.
type CloudSQL struct {
	dialer   *cloudsqlconn.Dialer
	instance string
}

// OpenCloudSQL makes a connector for an instance, PROJECT:REGION:INSTANCE, with Google's application default
// credentials. It does not call the instance.
//
// The connector's certificate is valid for an hour. A connection that needs a new one renews it, never a background task: a
// container without CPU between requests could not run one.
func OpenCloudSQL(ctx context.Context, name string, opts CloudSQLOptions) (*CloudSQL, error) {
	return openCloudSQL(ctx, name, opts)
}

// openCloudSQL accepts further options of the connector. Tests use them to replace Google.
func openCloudSQL(ctx context.Context, name string, opts CloudSQLOptions, more ...cloudsqlconn.Option) (*CloudSQL, error) {
	if _, err := instance.ParseConnName(name); err != nil {
		return nil, fmt.Errorf("gcp: Cloud SQL instance %q: want PROJECT:REGION:INSTANCE", name)
	}
	address, ok := addresses[opts.IP]
	if !ok {
		return nil, fmt.Errorf("gcp: Cloud SQL address %q: want public, private or psc", opts.IP)
	}
	all := []cloudsqlconn.Option{
		cloudsqlconn.WithLazyRefresh(),
		cloudsqlconn.WithBuiltInMetrics(false), // they would be sent to Google in the background every minute
		cloudsqlconn.WithUserAgent("belfry"),
		cloudsqlconn.WithDefaultDialOptions(address),
	}
	if opts.IAM {
		all = append(all, cloudsqlconn.WithIAMAuthN())
	}
	dialer, err := cloudsqlconn.NewDialer(ctx, append(all, more...)...)
	if err != nil {
		return nil, fmt.Errorf("gcp: Cloud SQL: %w", err)
	}
	return &CloudSQL{dialer: dialer, instance: name}, nil
}

// DialTimeout is the timeout of a first connection, which makes a key and requests a certificate from Google.
const DialTimeout = 20 * time.Second

// Dial connects to the instance. It ignores the address in its arguments, so that it fits postgres.Options.
func (c *CloudSQL) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := c.dialer.Dial(ctx, c.instance)
	if err != nil {
		return nil, fmt.Errorf("gcp: Cloud SQL: %w", err)
	}
	return conn, nil
}

// Close closes the connector. Connections stay open.
func (c *CloudSQL) Close() error {
	if err := c.dialer.Close(); err != nil {
		return fmt.Errorf("gcp: close Cloud SQL: %w", err)
	}
	return nil
}
