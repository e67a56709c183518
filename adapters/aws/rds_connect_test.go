package aws

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/belfry-dev/belfry/adapters/postgres"
)

// TestATokenForEachConnection: every connection uses TLS and a token of its own, in RDS's form.
func TestATokenForEachConnection(t *testing.T) {
	passwords := make(chan string, 10)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate(t)}, MinVersion: tls.VersionTLS12}
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if password, err := askPassword(conn, config); err == nil {
				passwords <- password
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-served })

	address := fmt.Sprintf("postgres://belfry@%s/belfry?sslmode=require", listener.Addr())
	t.Setenv("AWS_REGION", "eu-west-1")
	tokens, err := NewDatabaseTokens(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for range 3 {
		password := func(ctx context.Context) (string, error) { made++; return tokens.Password(ctx) }
		if _, err := postgres.Open(t.Context(), address, postgres.Options{PoolSize: 1, Password: password}); err == nil {
			t.Fatal("a server that accepts nobody accepted us")
		}
	}
	_ = listener.Close()
	<-served
	close(passwords)
	came := 0
	for password := range passwords {
		came++
		if err := tokens.check(password); err != nil {
			t.Errorf("the server got another password than a token: %v", err)
		}
	}
	if came < 3 || made != came {
		t.Errorf("%d tokens were made for %d connections", made, came)
	}
}

// askPassword acts as a server up to the password.
func askPassword(conn net.Conn, config *tls.Config) (string, error) {
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := pgproto3.NewBackend(conn, conn).ReceiveStartupMessage(); err != nil { // the request for TLS
		return "", err
	}
	if _, err := conn.Write([]byte("S")); err != nil {
		return "", err
	}
	secure := tls.Server(conn, config)
	backend := pgproto3.NewBackend(secure, secure)
	if _, err := backend.ReceiveStartupMessage(); err != nil {
		return "", err
	}
	backend.Send(&pgproto3.AuthenticationCleartextPassword{})
	if err := backend.Flush(); err != nil {
		return "", err
	}
	if err := backend.SetAuthType(pgproto3.AuthTypeCleartextPassword); err != nil {
		return "", err
	}
	got, err := backend.Receive()
	if err != nil {
		return "", err
	}
	password, ok := got.(*pgproto3.PasswordMessage)
	if !ok {
		return "", fmt.Errorf("got %T", got)
	}
	backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: "nobody is let in"})
	return password.Password, backend.Flush()
}

func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
