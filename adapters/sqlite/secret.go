package sqlite

import "context"

// Secret returns the installation's secret of that name; the first caller's fresh bytes become it.
func (s *Store) Secret(ctx context.Context, name string, fresh []byte) (value []byte, err error) {
	err = s.writer.run(ctx, func(t *tx) error {
		if _, err := t.exec("keep_secret", name, fresh); err != nil {
			return err
		}
		r, err := t.row("secret", name)
		if err == nil && r != nil {
			value, _ = r[0].([]byte)
		}
		return err
	})
	return value, wrap("secret", err)
}
