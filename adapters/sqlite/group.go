package sqlite

import (
	"context"

	"github.com/belfry-dev/belfry/core"
)

// group keeps the error group of a job that was just written into the dead letters, and notes that it failed.
func (t *tx) group(id int64) error {
	dead, err := t.row("dead_error", id)
	if err != nil || dead == nil {
		return err
	}
	group := core.ErrorGroup(dead.text(0), decode[[]core.AttemptError](dead.raw(1)))
	t.failed(failure{dead.text(0), group}, id)
	_, err = t.exec("put_group", id, group)
	return err
}

// fillGroups keeps the error groups of dead letters that have none: those that failed before there were groups.
func fillGroups(ctx context.Context, c *conn) error {
	const batch = 500
	for after, n := int64(0), batch; n == batch; {
		groups := map[int64]string{}
		err := c.query(ctx, "dead_without_group", func(r row) error {
			after = r.int(0)
			groups[after] = core.ErrorGroup(r.text(1), decode[[]core.AttemptError](r.raw(2)))
			return nil
		}, after, batch)
		if err != nil {
			return err
		}
		for id, group := range groups {
			if _, err := c.exec(ctx, "put_group", id, group); err != nil {
				return err
			}
		}
		n = len(groups)
	}
	return nil
}
