package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/belfry-dev/belfry/client"
)

func ExampleClient_PlanSchedule() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	schedule(ctx, c, "nightly")
	plan, err := c.PlanSchedule(ctx, "nightly", json.RawMessage(`{"cron": "45 3 * * *", "time_zone": "Europe/Berlin", "type": "report.nightly"}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Action, plan.Fields, plan.Description)
	// Output: change [cron] At 03:45 every day, Europe/Berlin
}

func ExampleClient_PutScheduleDocument() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	s, made, err := c.PutScheduleDocument(ctx, "nightly", json.RawMessage(`{"cron": "30 2 * * *", "type": "report.nightly", "payload": {"scale": 1.50}}`), client.Condition{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(made, s.Description)
	// Output: true At 02:30 every day, UTC
}
