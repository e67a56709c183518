package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core"
)

func waitCommand(a *console.App) *cobra.Command {
	var limit time.Duration
	c := &cobra.Command{Use: "wait ID...", Short: "Wait until jobs have ended, and say why nothing happens", Args: console.Args(1, -1, "the ids of jobs"),
		Long: `Wait until jobs have ended. Why one does not start or end is said on standard error after two seconds, and again when that
changes. The exit code is 0 where all are done, 7 where one ended failed or cancelled, 8 where the time was over first.`}
	console.FlagsOf(c).Length(&limit, "for", 0, core.MaxDelay, "at most this long; 0s means as long as it takes")
	c.RunE = func(c *cobra.Command, ids []string) error {
		api, err := a.Client()
		if err != nil {
			return err
		}
		ctx := c.Context()
		if limit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, limit, console.ErrTimeOver)
			defer cancel()
		}
		printed := 0
		return a.Each(ids, func(id string) error {
			if printed++; printed > 1 && !a.JSON {
				fmt.Fprintln(a.Out)
			}
			return wait(a, c.Context(), ctx, api, id)
		})
	}
	return c
}

// wait waits for one job as long as limited lets it, and prints it. Its first look is not limited: what was asked for
// is found out, however short the time to wait.
func wait(a *console.App, ctx, limited context.Context, api *client.Client, id string) error {
	job, err := api.Get(ctx, id)
	if err != nil {
		return err
	}
	said := ""
	for pause := a.Wonder; !job.Status.Ended(); pause = min(2*pause, time.Minute) {
		seen, err := waitFor(limited, pause, api, id)
		if seen != nil {
			job = seen
		}
		switch {
		case errors.Is(err, errStill):
			if why := reason(limited, a, api, job); why.reason != said && !a.JSON {
				fmt.Fprintf(a.Errs, "job %s %s\n", console.Clean(id), console.Clean(why.text))
				said = why.reason
			}
		case errors.Is(err, console.ErrTimeOver):
			return fmt.Errorf("job %s: %w; it %s", id, console.ErrTimeOver, reason(ctx, a, api, job).text)
		case err != nil:
			return err
		}
	}
	a.PrintJob(job)
	if job.Status != client.Done {
		return &console.QuietError{Code: console.ExitNotDone} // its status is printed
	}
	return nil
}

// errStill says that a job has not ended yet.
var errStill = errors.New("it has not ended yet")

// waitFor waits for a job, for a while. errStill means that the while is over.
func waitFor(ctx context.Context, while time.Duration, api *client.Client, id string) (*client.Job, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, while, errStill)
	defer cancel()
	return api.Wait(ctx, id)
}

// why is where a job stands that has not ended, and what it waits for.
type why struct {
	reason string // what is told apart: it stays the same while nothing but time passes
	text   string // what is printed
}

// reason finds out, as far as that can be done, why a job has not ended.
func reason(ctx context.Context, a *console.App, api *client.Client, job *client.Job) why {
	now := a.Now()
	if job.Status != client.Running && job.RunAt.After(now.Add(time.Second)) {
		reason := "is scheduled for " + console.JobTime(job, "run_at", job.RunAt)
		return why{reason + lastError(job), reason + ", in " + roughly(job.RunAt.Sub(now)) + lastError(job)}
	}
	text := whyNow(ctx, a, api, job)
	return why{text, text}
}

// whyNow is why of a job that runs or is due.
func whyNow(ctx context.Context, a *console.App, api *client.Client, job *client.Job) string {
	switch {
	case job.Status == client.Running && job.CancelWanted:
		return "runs on " + job.WorkerID + ", which is told to stop"
	case job.Status == client.Running:
		return fmt.Sprintf("runs on %s since %s, attempt %d of %d", job.WorkerID, console.ShowTime(job.StartedAt), job.Attempts, job.MaxAttempts)
	}
	due := fmt.Sprintf("is %s, due since %s%s", job.Status, console.JobTime(job, "run_at", job.RunAt), lastError(job))
	ctx, cancel := context.WithTimeout(ctx, console.DialTimeout)
	defer cancel()
	s, err := api.Stats(ctx)
	if err != nil {
		return due
	}
	return due + ": " + whyDue(s, job)
}

// roughly is a duration as one would say it.
func roughly(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	}
	return console.Short(d.String())
}

// lastError is what its last attempt came to.
func lastError(job *client.Job) string {
	if len(job.Errors) == 0 {
		return ""
	}
	last := job.Errors[len(job.Errors)-1]
	return fmt.Sprintf(", after attempt %d: %s", last.Attempt, last.Error)
}

// whyDue is why a job that is due has not started, by the numbers of the whole.
func whyDue(s *client.Stats, job *client.Job) string {
	of := slices.IndexFunc(s.Types, func(t client.TypeStats) bool { return t.Type == job.Type })
	queue := slices.IndexFunc(s.Queues, func(q client.QueueStats) bool { return q.Priority == job.Priority })
	var ahead []string
	if queue >= 0 {
		q := s.Queues[queue]
		ahead = append(ahead, fmt.Sprintf("%s due and %s queued of its priority, %s running", console.Count(q.Due, q.Capped), console.Count(q.Queued, q.Capped), console.Count(q.Running, q.Capped)))
	}
	switch {
	case of >= 0 && s.Types[of].Unhandled > 0:
		return "no worker that lives handles its type, " + job.Type + "; start one that does, or cancel the job"
	case of >= 0 && s.Types[of].Workers > 0:
		ahead = append(ahead, console.Numbered(s.Types[of].Workers, "worker")+" with a handler for its type")
	case s.Workers > 0 || of >= 0:
	default:
		ahead = append(ahead, "no worker has said lately that it runs jobs")
	}
	return strings.Join(ahead, ", ")
}
