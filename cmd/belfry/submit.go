package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/jsonscan"
)

// submitFlags are what jobs submit takes.
type submitFlags struct {
	job               client.NewJob
	payload, priority string
	file, name        string
	batch             int
	fresh, wait       bool
}

func (a *app) submitCommand() *cobra.Command {
	s := submitFlags{batch: 1000}
	c := &cobra.Command{
		Use: "submit [TYPE]", Short: "Submit a job, or a file of them", Args: counted(0, 1, "a type, or --file"),
		Long: `Submit one job of a type, or with --file all jobs of a file in JSON Lines: each line an object as POST /v1/jobs takes it.

A line without a dedupe_key gets one made of the file's path, the line's text and how often that text stood before in
the file. So a line that was submitted is not submitted again while its job lives; where all lines are there already, the
exit code is 9. --name stands for the path: give it where the same file has several paths, or one path several files.
Interrupted, the same command goes on behind the last batch that was answered, whether its jobs live or not; --fresh
begins anew.`,
	}
	f := flagsOf(c)
	f.path(&s.payload, "payload", "JSON, @file, or - for standard input")
	f.instant(&s.job.RunAt, "run-at", "when it may start")
	f.length(&s.job.Delay, "delay", 0, core.MaxDelay, "from now, instead of --run-at")
	f.text(&s.priority, "priority", "critical, default or bulk")
	f.text(&s.job.Tenant, "tenant", "for whom")
	f.text(&s.job.DedupeKey, "dedupe-key", "while a live job has this key, that job is the answer")
	f.count(&s.job.MaxAttempts, "max-attempts", 1, core.MaxAttempts, "attempts before it fails for good")
	f.length(&s.job.Timeout, "timeout", core.MinTimeout, core.MaxTimeout, "of one attempt")
	f.instant(&s.job.ExpiresAt, "expires-at", "not started after this")
	f.waits(&s.job.Backoff, "backoff", "waits between attempts, such as 30s,2m,1h")
	f.texts(&s.job.Tags, "tag", "may stand more than once")
	f.BoolVar(&s.wait, "wait", false, "wait until it has ended")
	f.path(&s.file, "file", "submit a file of JSON Lines; - for standard input")
	f.text(&s.name, "name", "with --file: what tells this file from others, instead of its path")
	f.count(&s.batch, "batch", 1, core.MaxBatch, "with --file: lines of one request, 1 to 10000")
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
	for _, name := range []string{"batch", "fresh", "name"} {
		if c.Flags().Changed(name) {
			return usage("--%s goes with --file", name)
		}
	}
	if c.Flags().Changed("run-at") && c.Flags().Changed("delay") {
		return usage("--run-at and --delay exclude one another: one of them says when")
	}
	s.job.Type, s.job.Priority = args[0], client.Priority(s.priority)
	payload, err := a.readPayload(s.payload)
	if err != nil {
		return err
	}
	if payload != nil {
		s.job.Payload = json.RawMessage(payload)
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
	what := "is scheduled for " + jobTime(job, "run_at", job.RunAt)
	if job.Duplicate {
		what = fmt.Sprintf("has this dedupe key already; it is %s", job.Status)
	}
	a.printChange(job, what)
	return nil
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
		payload, err = readFile("--payload", text[1:])
	default:
		payload = []byte(text)
	}
	var wrong *usageError
	switch {
	case errors.As(err, &wrong):
		return nil, err
	case err != nil:
		return nil, usage("--payload: %s", err)
	}
	if fault := jsonscan.EncodingFault(payload); fault != "" {
		return nil, usage("--payload %s", fault)
	}
	if _, err := jsonscan.Scan(payload); err != nil {
		return nil, usage("--payload must be JSON; a text stands in quotes: --payload '\"text\"' (%s)", err)
	}
	return payload, nil
}

// readFile reads the file that a flag names after an @.
func readFile(flag, name string) (payload []byte, err error) {
	if name == "" {
		return nil, usage("%s: behind @ stands the name of a file", flag)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, usage("%s: %s: %s", flag, name, fileReason(err))
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, maxPayload))
}

// plainText is the text of a file without the byte order mark that some editors begin it with. The error is the end of a
// sentence about the file: how it is encoded instead of in UTF-8.
func plainText(text []byte) ([]byte, error) {
	text = bytes.TrimPrefix(text, []byte(jsonscan.ByteOrderMark))
	if fault := jsonscan.EncodingFault(text); fault != "" {
		return nil, errors.New(fault)
	}
	return text, nil
}
