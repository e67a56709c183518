package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
)

// submitFlags are what jobs submit takes.
type submitFlags struct {
	job                                          client.NewJob
	payload, runAt, expiresAt, priority, backoff string
	file                                         string
	batch                                        int
	fresh, wait                                  bool
}

func (a *app) submitCommand() *cobra.Command {
	var s submitFlags
	c := &cobra.Command{
		Use: "submit [TYPE]", Short: "Submit a job, or a file of them", Args: counted(0, 1, "a type, or --file"),
		Long: `Submit one job of a type, or with --file all jobs of a file in JSON Lines: each line an object as POST /v1/jobs takes it.

A line without a dedupe_key gets one made of the file's name, the line's text and how often that text stood before in
the file. So a line that was submitted is not submitted again while its job lives. Interrupted, the same command goes
on behind the last batch that was answered, whether its jobs live or not; --fresh begins anew.`,
	}
	f := c.Flags()
	f.StringVar(&s.payload, "payload", "", "JSON, @file, or - for standard input")
	f.StringVar(&s.runAt, "run-at", "", "when it may start (RFC 3339)")
	f.DurationVar(&s.job.Delay, "delay", 0, "from now, instead of --run-at")
	f.StringVar(&s.priority, "priority", "", "critical, default or bulk")
	f.StringVar(&s.job.Tenant, "tenant", "", "for whom")
	f.StringVar(&s.job.DedupeKey, "dedupe-key", "", "while a live job has this key, that job is the answer")
	f.IntVar(&s.job.MaxAttempts, "max-attempts", 0, "attempts before it fails for good")
	f.DurationVar(&s.job.Timeout, "timeout", 0, "of one attempt")
	f.StringVar(&s.expiresAt, "expires-at", "", "not started after this (RFC 3339)")
	f.StringVar(&s.backoff, "backoff", "", "waits between attempts, such as 30s,2m,1h")
	f.StringArrayVar(&s.job.Tags, "tag", nil, "may stand more than once")
	f.BoolVar(&s.wait, "wait", false, "wait until it has ended")
	f.StringVar(&s.file, "file", "", "submit a file of JSON Lines; - for standard input")
	f.IntVar(&s.batch, "batch", 1000, "with --file: lines of one request, 1 to 10000")
	f.BoolVar(&s.fresh, "fresh", false, "with --file: forget where an interrupted run stopped")
	words(c, "priority", "critical", "default", "bulk")
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("file") {
			return a.submitFile(c, &s, args)
		}
		return a.submitOne(c, &s, args)
	}
	return c
}

func (a *app) submitOne(c *cobra.Command, s *submitFlags, args []string) error {
	if len(args) == 0 {
		return usage("%s wants a type, or --file", c.CommandPath())
	}
	if c.Flags().Changed("batch") || c.Flags().Changed("fresh") {
		return usage("--batch and --fresh go with --file")
	}
	s.job.Type, s.job.Priority = args[0], client.Priority(s.priority)
	if err := a.readFlags(s); err != nil {
		return err
	}
	api, err := a.client()
	if err != nil {
		return err
	}
	job, err := api.Submit(c.Context(), s.job)
	if err != nil {
		return err
	}
	if s.wait {
		return a.wait(c.Context(), c.Context(), api, job.ID)
	}
	what := "is scheduled for " + showTime(job.RunAt)
	if job.Duplicate {
		what = fmt.Sprintf("has this dedupe key already; it is %s", job.Status)
	}
	a.printChange(job, what)
	return nil
}

// readFlags turns texts into what they mean. The rules for values are the server's.
func (a *app) readFlags(s *submitFlags) (err error) {
	if s.job.RunAt, err = instant("--run-at", s.runAt); err != nil {
		return err
	}
	if s.job.ExpiresAt, err = instant("--expires-at", s.expiresAt); err != nil {
		return err
	}
	if s.job.Backoff, err = waits("--backoff", s.backoff); err != nil {
		return err
	}
	payload, err := a.readPayload(s.payload)
	if err == nil && payload != nil {
		s.job.Payload = json.RawMessage(payload)
	}
	return err
}

// maxPayload bounds what is read: one byte more than the server takes.
const maxPayload = 1<<20 + 1

func (a *app) readPayload(text string) (payload []byte, err error) {
	switch {
	case text == "":
		return nil, nil
	case text == "-":
		payload, err = io.ReadAll(io.LimitReader(a.in, maxPayload))
	case strings.HasPrefix(text, "@"):
		payload, err = readFile(text[1:])
	default:
		payload = []byte(text)
	}
	if err != nil {
		return nil, usage("--payload: %s", err)
	}
	if !json.Valid(payload) {
		return nil, usage("--payload must be JSON; a text stands in quotes: --payload '\"text\"'")
	}
	return payload, nil
}

func readFile(name string) (payload []byte, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, maxPayload))
}
