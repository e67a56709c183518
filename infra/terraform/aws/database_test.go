package aws_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/internal/pgserver"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// database is a PostgreSQL that lets in as RDS does: over TLS only; a master who is no superuser, by password; and members
// of rds_iam without one. That their tokens are good only RDS can tell.
type database struct {
	host, roots, password string
	admin                 string // address of a superuser, for the test itself
}

const master = "belfry_master"

func newDatabase(t *testing.T) database {
	t.Helper()
	server := testenv.PostgresServer(t, pgserver.Options{})
	u, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	d := database{host: u.Host, roots: filepath.Join(t.TempDir(), "roots.pem"), password: "p@ss/word of the test", admin: server.URL()}
	certificate, key := certificate(t)
	if err := os.WriteFile(d.roots, []byte(certificate), 0o600); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	write := func(file, text string) {
		t.Helper()
		lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
		for i, line := range lines {
			lines[i] = "'" + line + "'"
		}
		statement := fmt.Sprintf("COPY (SELECT unnest(ARRAY[%s])) TO PROGRAM 'umask 077 && cat > %s'", strings.Join(lines, ","), file)
		if _, err := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	write("server.crt", certificate)
	write("server.key", key)
	write("pg_hba.conf", "hostnossl all postgres 127.0.0.1/32 scram-sha-256\nhostssl all "+master+" 127.0.0.1/32 scram-sha-256\nhostssl all +rds_iam 127.0.0.1/32 trust")
	for _, statement := range []string{
		"CREATE ROLE rds_iam NOLOGIN",
		fmt.Sprintf("CREATE ROLE %s LOGIN CREATEROLE CREATEDB PASSWORD '%s'", master, d.password),
		"GRANT rds_iam TO " + master + " WITH ADMIN OPTION",
		"CREATE DATABASE belfry OWNER " + master,
		"ALTER SYSTEM SET ssl = on",
		"SELECT pg_reload_conf()",
	} {
		if _, err := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return d
}

// secret is what RDS keeps for the master.
func (d database) secret(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(map[string]string{"username": master, "password": d.password})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// adapt points a function's address of the database here, with these roots. All else of it stays.
func (d database) adapt(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	if query.Get("sslmode") != "verify-full" || query.Get("sslrootcert") != "/var/task/rds.pem" {
		t.Errorf("the database's certificate is not checked: %s", address)
	}
	query.Set("sslrootcert", d.roots)
	u.Host, u.RawQuery = d.host, query.Encode()
	return u.String()
}

// signedIn are the roles that connections have now.
func (d database) signedIn(ctx context.Context, t *testing.T) (names string) {
	t.Helper()
	conn, err := pgx.Connect(ctx, d.admin)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, "SELECT coalesce(string_agg(DISTINCT usename::text, ' ' ORDER BY usename::text), '') FROM pg_stat_activity WHERE datname = 'belfry'").Scan(&names); err != nil {
		t.Fatal(err)
	}
	return names
}

// certificate makes one for 127.0.0.1, and its key.
func certificate(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	made, err := x509.CreateCertificate(rand.Reader, form, form, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}))
}
