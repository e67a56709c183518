package client_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/belfry-dev/belfry/client"
)

// schedule makes a schedule that is due at 02:30 in Berlin.
func schedule(ctx context.Context, c *client.Client, name string) *client.Schedule {
	s, _, err := c.PutSchedule(ctx, client.NewSchedule{Name: name, Type: "report.nightly", Rule: client.Rule{Cron: "30 2 * * *", TimeZone: "Europe/Berlin"}}, client.Condition{})
	if err != nil {
		log.Fatal(err)
	}
	return s
}

func ExampleClient_PutSchedule() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	s, made, err := c.PutSchedule(ctx, client.NewSchedule{
		Name: "nightly", Type: "report.nightly", Rule: client.Rule{Cron: "30 2 * * *", TimeZone: "Europe/Berlin"},
		Missed: "once", Overlap: "skip", ExpectWithin: time.Hour,
	}, client.Condition{IfAbsent: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(made, s.Version, s.Description)
	// Output: true 1 At 02:30 every day, Europe/Berlin
}

func ExampleClient_GetSchedule() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	schedule(ctx, c, "nightly")
	s, err := c.GetSchedule(ctx, "", "nightly")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Cron, s.Missed, s.Overlap)
	// Output: 30 2 * * * once allow
}

func ExampleClient_Schedules() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	schedule(ctx, c, "nightly")
	schedule(ctx, c, "evening")
	for s, err := range c.Schedules(ctx, client.ScheduleFilter{Type: "report.nightly"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(s.Name)
	}
	// Output:
	// evening
	// nightly
}

func ExampleClient_DeleteSchedule() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	s := schedule(ctx, c, "nightly")
	fmt.Println(c.DeleteSchedule(ctx, "", s.Name, client.Condition{IfVersion: s.Version}))
	// Output: <nil>
}

func ExampleClient_PauseSchedule() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	schedule(ctx, c, "nightly")
	s, err := c.PauseSchedule(ctx, "", "nightly")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Paused, s.NextDue.IsZero())
	// Output: true true
}

func ExampleClient_ResumeSchedule() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	schedule(ctx, c, "nightly")
	if _, err := c.PauseSchedule(ctx, "", "nightly"); err != nil {
		log.Fatal(err)
	}
	s, err := c.ResumeSchedule(ctx, "", "nightly")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Paused, s.NextDue.IsZero())
	// Output: false false
}

func ExampleClient_TriggerSchedule() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	schedule(ctx, c, "nightly")
	job, err := c.TriggerSchedule(ctx, "", "nightly")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.Type, job.Schedule)
	// Output: report.nightly nightly
}

func ExampleClient_BackfillSchedule() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	schedule(ctx, c, "nightly")
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	b, err := c.BackfillSchedule(ctx, "", "nightly", from, from.AddDate(0, 0, 7), true) // only counts
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Count, b.Made)
	// Output: 7 0
}

func ExampleClient_NextOccurrences() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	s := schedule(ctx, c, "nightly")
	next, err := c.NextOccurrences(ctx, "", "nightly", 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(next.Items), next.Items[0].At.Equal(s.NextDue))
	// Output: 3 true
}

func ExampleClient_PreviewSchedule() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	p, err := c.PreviewSchedule(ctx, client.Rule{Cron: "30 2 * * *", TimeZone: "Europe/Berlin"}, time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC), 2)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range p.Items {
		fmt.Println(item.At.Format(time.RFC3339), item.DST)
	}
	// Output:
	// 2026-03-29T03:00:00+02:00 gap
	// 2026-03-30T02:30:00+02:00
}

func ExampleClient_Occurrences() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	schedule(ctx, c, "nightly")
	rows := 0
	for row, err := range c.Occurrences(ctx, "", "nightly", client.OccurrenceFilter{Outcome: "skipped"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.ScheduledFor, row.Reason)
		rows++
	}
	fmt.Println(rows)
	// Output: 0
}

func ExampleClient_Alerts() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	open := 0
	for alert, err := range c.Alerts(ctx, client.AlertFilter{Open: true}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(alert.Kind, alert.Subject, alert.Detail)
		open++
	}
	fmt.Println(open)
	// Output: 0
}

func ExampleSchedule_Document() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	s := schedule(ctx, c, "nightly")
	fmt.Println(string(s.Document()[:17]))
	// Output: {"name":"nightly"
}

func ExampleNewSchedule_Document() {
	s := client.NewSchedule{Name: "nightly", Type: "report.nightly", Rule: client.Rule{Every: 90 * time.Minute}}
	document, err := s.Document()
	fmt.Println(string(document), err)
	// Output: {"every":"1h30m0s","type":"report.nightly"} <nil>
}
