package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// historyDaysAhead is how many days of history have a partition beforehand, today not counted.
const historyDaysAhead = 8

// partitionName is the table of one day (UTC) of history.
func partitionName(day time.Time) string { return "job_history_" + day.UTC().Format("20060102") }

// bounds are the first instant of the day and of the next, as the server reads them.
func bounds(day time.Time) (from, to string) {
	const layout = "2006-01-02 00:00:00+00"
	return day.UTC().Format(layout), day.UTC().AddDate(0, 0, 1).Format(layout)
}

// makeFirstPartitions makes those of a new schema. Later ones are Maintain's.
func makeFirstPartitions(ctx context.Context, tx pgx.Tx) error {
	var now time.Time
	if err := tx.QueryRow(ctx, "SELECT now()").Scan(&now); err != nil {
		return err
	}
	for ahead := -1; ahead <= historyDaysAhead; ahead++ {
		day := now.UTC().AddDate(0, 0, ahead)
		from, to := bounds(day)
		_, err := tx.Exec(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS belfry.%s PARTITION OF belfry.job_history FOR VALUES FROM ('%s') TO ('%s')", partitionName(day), from, to))
		if err != nil {
			return err
		}
	}
	return nil
}
