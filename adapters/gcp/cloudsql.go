package gcp

import (
	"context"
	"fmt"
	"net"
	"time"

	"cloud.google.com/go/cloudsqlconn"
	"cloud.google.com/go/cloudsqlconn/instance"
)

// CloudSQLOptions say how an instance is reached. The zero value is ready.
type CloudSQLOptions struct {
	// IAM signs in as the service account that the program runs as: its token goes into the certificate, and the
	// database asks for no password. Zero means that the database's address says user and password.
	IAM bool
	// IP is which of the instance's addresses is used: public, private or psc. Zero means public.
	IP string
}

// addresses of an instance.
var addresses = map[string]cloudsqlconn.DialOption{
	"": cloudsqlconn.WithPublicIP(), "public": cloudsqlconn.WithPublicIP(),
	"private": cloudsqlconn.WithPrivateIP(), "psc": cloudsqlconn.WithPSC(),
}

// CloudSQL connects to an instance of Cloud SQL through Google's connector: by TLS on which each side shows the other a
// certificate, without a list of networks that may come. It may be used from many goroutines.
type CloudSQL struct {
	dialer   *cloudsqlconn.Dialer
	instance string
}

// OpenCloudSQL makes a connector for an instance, PROJECT:REGION:INSTANCE, with Google's application default
// credentials. It does not call the instance.
//
// The connector's certificate is good for an hour and renewed by a connection that needs one, never in the background:
// a container that gets no CPU between requests would not come to it.
func OpenCloudSQL(ctx context.Context, name string, opts CloudSQLOptions) (*CloudSQL, error) {
	return openCloudSQL(ctx, name, opts)
}

// openCloudSQL takes options of the connector beside ours: tests say where Google is.
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
		cloudsqlconn.WithBuiltInMetrics(false), // they are sent to Google in the background, each minute
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

// DialTimeout is how long a first connection may take: it makes a key and asks Google for a certificate.
const DialTimeout = 20 * time.Second

// Dial connects to the instance. What the arguments say of an address is not looked at: for postgres.Options.
func (c *CloudSQL) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := c.dialer.Dial(ctx, c.instance)
	if err != nil {
		return nil, fmt.Errorf("gcp: Cloud SQL: %w", err)
	}
	return conn, nil
}

// Close lets go of the connector. Connections stay.
func (c *CloudSQL) Close() error {
	if err := c.dialer.Close(); err != nil {
		return fmt.Errorf("gcp: close Cloud SQL: %w", err)
	}
	return nil
}
