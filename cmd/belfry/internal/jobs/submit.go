package jobs

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core"
)

// submitFlags are what jobs submit takes.
type submitFlags struct {
	job               client.NewJob
	payload, priority string
	file, name        string
	batch             int
	fresh, wait       bool
}

func submitCommand(a *console.App) *cobra.Command {
	s := submitFlags{batch: 1000}
	c := &cobra.Command{
		Use: "submit [TYPE]", Short: "Submit a job, or a file of them", Args: console.Args(0, 1, "a type, or --file"),
		Long: `Submit one job of a type, or with --file all jobs of a file in JSON Lines: each line an object as POST /v1/jobs takes it.

A line without a dedupe_key gets one made of the file's path, the line's text and how often that text stood before in
the file. So a line that was submitted is not submitted again while its job lives; where all lines are there already, the
exit code is 9. --name stands for the path: give it where the same file has several paths, or one path several files.
Interrupted, the same command goes on behind the last batch that was answered, whether its jobs live or not; --fresh
begins anew.`,
	}
	f := console.FlagsOf(c)
	f.Path(&s.payload, "payload", "JSON, @file, or - for standard input")
	f.Instant(&s.job.RunAt, "run-at", "when it may start")
	f.Length(&s.job.Delay, "delay", 0, core.MaxDelay, "from now, instead of --run-at")
	f.Text(&s.priority, "priority", "critical, default or bulk")
	f.Text(&s.job.Tenant, "tenant", "for whom")
	f.Text(&s.job.DedupeKey, "dedupe-key", "while a live job has this key, that job is the answer")
	f.Count(&s.job.MaxAttempts, "max-attempts", 1, core.MaxAttempts, "attempts before it fails for good")
	f.Length(&s.job.Timeout, "timeout", core.MinTimeout, core.MaxTimeout, "of one attempt")
	f.Instant(&s.job.ExpiresAt, "expires-at", "not started after this")
	f.Waits(&s.job.Backoff, "backoff", "waits between attempts, such as 30s,2m,1h")
	f.Texts(&s.job.Tags, "tag", "may stand more than once")
	f.BoolVar(&s.wait, "wait", false, "wait until it has ended")
	f.Path(&s.file, "file", "submit a file of JSON Lines; - for standard input")
	f.Text(&s.name, "name", "with --file: what tells this file from others, instead of its path")
	f.Count(&s.batch, "batch", 1, core.MaxBatch, "with --file: lines of one request, 1 to 10000")
	f.BoolVar(&s.fresh, "fresh", false, "with --file: forget where an interrupted run stopped")
	console.Words(c, "priority", "critical", "default", "bulk")
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("file") {
			return submitFile(a, c, &s, args)
		}
		return submitOne(a, c, &s, args)
	}
	return c
}

func submitOne(a *console.App, c *cobra.Command, s *submitFlags, args []string) error {
	if len(args) == 0 {
		return console.Usage("%s wants a type, or --file", c.CommandPath())
	}
	for _, name := range []string{"batch", "fresh", "name"} {
		if c.Flags().Changed(name) {
			return console.Usage("--%s goes with --file", name)
		}
	}
	if c.Flags().Changed("run-at") && c.Flags().Changed("delay") {
		return console.Usage("--run-at and --delay exclude one another: one of them says when")
	}
	s.job.Type, s.job.Priority = args[0], client.Priority(s.priority)
	payload, err := a.ReadPayload(s.payload)
	if err != nil {
		return err
	}
	if payload != nil {
		s.job.Payload = json.RawMessage(payload)
	}
	api, err := a.Client()
	if err != nil {
		return err
	}
	job, err := api.Submit(c.Context(), s.job)
	if err != nil {
		return err
	}
	if s.wait {
		return wait(a, c.Context(), c.Context(), api, job.ID)
	}
	what := "is scheduled for " + console.JobTime(job, "run_at", job.RunAt)
	if job.Duplicate {
		what = fmt.Sprintf("has this dedupe key already; it is %s", job.Status)
	}
	a.PrintChange(job, what)
	return nil
}
