package belfrytx_test

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/client/belfrytx"
)

// The order and its confirmation job exist together or not at all.
func ExampleSubmitTx() {
	confirm := func(ctx context.Context, conn *pgx.Conn, order int) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "INSERT INTO orders (id) VALUES ($1)", order); err != nil {
				return err
			}
			_, err := belfrytx.SubmitTx(ctx, tx, client.NewJob{Type: "order.confirm", Payload: order})
			return err
		})
	}
	conn, err := pgx.Connect(context.Background(), os.Getenv("BELFRY_DATABASE_URL"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close(context.Background())
	fmt.Println(confirm(context.Background(), conn, 42))
}

// Either all jobs exist or none.
func ExampleSubmitBatchTx() {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, os.Getenv("BELFRY_DATABASE_URL"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close(ctx)
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		jobs, err := belfrytx.SubmitBatchTx(ctx, tx, []client.NewJob{{Type: "order.confirm", DedupeKey: "a"}, {Type: "order.ship", DedupeKey: "a"}})
		if err == nil {
			fmt.Println(len(jobs), jobs[1].Duplicate)
		}
		return err
	})
	fmt.Println(err)
}
