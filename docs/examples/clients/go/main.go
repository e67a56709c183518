// Command go calls Belfry through a client that is generated from its OpenAPI document.
//
//	curl -s "$BELFRY_URL/openapi.json" > openapi.json
//	mkdir -p belfry && go generate && go run .
package main

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml openapi.json

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"example.com/belfry-client/belfry"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	client, err := belfry.NewClientWithResponses(os.Getenv("BELFRY_URL"), belfry.WithRequestEditorFn(authorize))
	if err == nil {
		err = run(ctx, client)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// authorize adds the token to each request.
func authorize(_ context.Context, r *http.Request) error {
	r.Header.Set("Authorization", "Bearer "+os.Getenv("BELFRY_TOKEN"))
	return nil
}

func run(ctx context.Context, client *belfry.ClientWithResponses) error {
	tag := fmt.Sprintf("generated-go-%d", time.Now().UnixNano())
	var last string
	for i := range 3 {
		job := belfry.NewJob{Type: "echo", Payload: map[string]int{"i": i}, Tags: &[]string{tag}}
		answer, err := client.SubmitJobWithResponse(ctx, nil, job)
		if err != nil {
			return err
		}
		if answer.JSON201 == nil {
			return fmt.Errorf("submit: %s: %s", answer.Status(), answer.Body)
		}
		last = answer.JSON201.Id
	}
	fmt.Println("submitted 3 jobs")
	if err := wait(ctx, client, last); err != nil {
		return err
	}
	if err := list(ctx, client, tag); err != nil {
		return err
	}
	return refused(ctx, client)
}

// wait returns once the job has ended.
func wait(ctx context.Context, client *belfry.ClientWithResponses, id string) error {
	for {
		answer, err := client.GetJobWithResponse(ctx, id, &belfry.GetJobParams{Wait: ptr("30s")})
		if err != nil {
			return err
		}
		if answer.JSON200 == nil {
			return fmt.Errorf("get: %s: %s", answer.Status(), answer.Body)
		}
		switch job := answer.JSON200; job.Status {
		case belfry.JobStatusDone, belfry.JobStatusFailed, belfry.JobStatusCancelled:
			fmt.Printf("the last one is %s, its result is %v\n", job.Status, job.Result)
			return nil
		}
	}
}

// list reads the jobs with a tag, two on a page.
func list(ctx context.Context, client *belfry.ClientWithResponses, tag string) error {
	params := &belfry.ListJobsParams{Tag: &tag, Limit: ptr(2)}
	for pages, jobs := 1, 0; ; pages++ {
		answer, err := client.ListJobsWithResponse(ctx, params)
		if err != nil {
			return err
		}
		if answer.JSON200 == nil {
			return fmt.Errorf("list: %s: %s", answer.Status(), answer.Body)
		}
		jobs += len(answer.JSON200.Items)
		if answer.JSON200.NextCursor == "" {
			fmt.Printf("listed %d jobs on %d pages\n", jobs, pages)
			return nil
		}
		params.Cursor = &answer.JSON200.NextCursor
	}
}

// refused submits what must be refused, and reads why.
func refused(ctx context.Context, client *belfry.ClientWithResponses) error {
	answer, err := client.SubmitJobWithResponse(ctx, nil, belfry.NewJob{Type: "no such name"})
	if err != nil {
		return err
	}
	problem := answer.ApplicationproblemJSON422
	if problem == nil || problem.Errors == nil {
		return fmt.Errorf("submit: %s: %s", answer.Status(), answer.Body)
	}
	for _, e := range *problem.Errors {
		fmt.Printf("refused with %d: %s %s\n", problem.Status, e.Field, e.Rule)
	}
	return nil
}

func ptr[T any](v T) *T { return &v }
