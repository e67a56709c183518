package sqlite

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// WatchTypes looks for types without a success for too long.
func (s *Store) WatchTypes(ctx context.Context) error {
	return wrap("watch types", s.carefully(ctx, func(t *tx) error {
		found, err := t.rows("expecting_types", core.AlertTypeMissed)
		for _, r := range found {
			if err == nil {
				_, err = t.alone(core.RowFault{Kind: core.ApartType, Name: r.text(0), Act: "watch"}, func() error { return t.watchType(r) })
			}
		}
		return err
	}))
}

// watchType looks at one row of expecting_types.
func (t *tx) watchType(r row) error {
	since := max(r.int(2), r.int(3))
	if since > r.int(2) {
		if _, err := t.exec("expect_from", r.text(0), since); err != nil {
			return err
		}
	}
	late, open := since+r.int(1) <= t.now, r.int(4) != 0
	if late == open {
		return nil
	}
	alert := core.Alert{Kind: core.AlertTypeMissed, Subject: r.text(0)}
	if late {
		alert.Detail = "no job of this type was done since " + instant(since).Truncate(time.Second).Format(time.RFC3339)
	} else {
		alert.ClearedAt = instant(t.now)
	}
	return t.raise(&alert)
}
