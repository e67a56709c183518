package pgserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

// CreateDatabase makes an empty database in the server at the admin URL and
// returns its URL. Each call makes another one.
func CreateDatabase(ctx context.Context, adminURL string) (string, error) {
	name := "belfry_" + strings.ToLower(rand.Text())
	address, err := url.Parse(adminURL)
	if err != nil || (address.Scheme != "postgres" && address.Scheme != "postgresql") {
		return "", errors.New("pgserver: create database: the admin URL must read postgres://user:password@host:port/database")
	}
	address.Path = "/" + name
	if err := Execute(ctx, adminURL, "CREATE DATABASE "+name); err != nil {
		return "", fmt.Errorf("pgserver: create database: %w", err)
	}
	return address.String(), nil
}

// DropDatabase removes a database CreateDatabase made, together with the
// sessions still connected to it.
func DropDatabase(ctx context.Context, adminURL, databaseURL string) error {
	address, err := url.Parse(databaseURL)
	if err != nil {
		return fmt.Errorf("pgserver: drop database: %w", err)
	}
	name := pgx.Identifier{strings.TrimPrefix(address.Path, "/")}.Sanitize()
	if err := Execute(ctx, adminURL, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("pgserver: drop database: %w", err)
	}
	return nil
}

// Execute runs SQL, which may be several statements, on a connection of its own.
func Execute(ctx context.Context, address, statement string) (err error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	_, err = conn.Exec(ctx, statement)
	return err
}
