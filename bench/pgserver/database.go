package pgserver

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// FreshDatabase drops the database if it is there, makes it anew and returns its dsn and how to drop it.
func FreshDatabase(ctx context.Context, dsn, name string) (fresh string, drop func(context.Context) error, err error) {
	if err := execute(ctx, dsn, `DROP DATABASE IF EXISTS `+pgx.Identifier{name}.Sanitize()+` WITH (FORCE)`); err != nil {
		return "", nil, err
	}
	if err := execute(ctx, dsn, `CREATE DATABASE `+pgx.Identifier{name}.Sanitize()); err != nil {
		return "", nil, err
	}
	drop = func(ctx context.Context) error {
		return execute(ctx, dsn, `DROP DATABASE IF EXISTS `+pgx.Identifier{name}.Sanitize()+` WITH (FORCE)`)
	}
	if fresh, err = withDatabase(dsn, name); err != nil {
		return "", nil, err
	}
	return fresh, drop, nil
}

func execute(ctx context.Context, dsn, sql string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("pgserver: connect: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("pgserver: %s: %w", sql, err)
	}
	return nil
}
