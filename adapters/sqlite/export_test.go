package sqlite

import (
	"context"
	"errors"
)

// MakeTables makes the file at path, with the tables of a store that nobody opened yet.
func MakeTables(ctx context.Context, path string) error {
	c, err := connect(ctx, path, writerPragmas...)
	if err != nil {
		return err
	}
	return errors.Join(migrate(ctx, c), c.close())
}
