package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/core"
)

// Exit codes, as docs/cli.md lists them.
const (
	ExitOK          = 0
	ExitFailed      = 1   // something went wrong that has no code of its own; doctor: there are findings
	ExitUsage       = 2   // a flag, an argument or a value is not right, or was refused as invalid
	ExitNotFound    = 3   // there is no such job, type, token or profile
	ExitConflict    = 4   // the state does not allow it
	ExitUnreachable = 5   // no connection, no answer, another's answer, or the other end is out of order
	ExitAccess      = 6   // the token is missing, wrong or not enough
	ExitNotDone     = 7   // the job that was waited for ended failed or cancelled
	ExitTimeOver    = 8   // the time to wait was over first
	ExitNothingNew  = 9   // every line of the file was there already
	ExitInterrupted = 130 // Ctrl-C
)

// usageError is a command line that makes no sense.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// Usage is the error of a command line that makes no sense.
func Usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// FileReason is why a file cannot be read, for messages that name it themselves.
func FileReason(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}

// QuietError ends a command with a code; all there is to say was said.
type QuietError struct{ Code int }

func (e *QuietError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// ErrTimeOver ends a wait that took too long.
var ErrTimeOver = errors.New("the time to wait is over")

// codes maps errors to exit codes; the first that matches counts.
var codes = []struct {
	is   error
	code int
}{
	{ErrTimeOver, ExitTimeOver},
	{client.ErrNotFound, ExitNotFound},
	{client.ErrConflict, ExitConflict},
	{client.ErrChanged, ExitConflict},
	{client.ErrInvalid, ExitUsage},
	{client.ErrAccess, ExitAccess},
	{client.ErrThrottled, ExitUnreachable},
	{client.ErrUnreachable, ExitUnreachable},
	{client.ErrForeign, ExitUnreachable},
	{core.ErrUnavailable, ExitUnreachable},
}

// ExitCode is the code that a command ends with.
func ExitCode(ctx context.Context, err error) int {
	var quiet *QuietError
	var wrong *usageError
	var fields client.FieldErrors
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &quiet):
		return quiet.Code
	case errors.As(err, &wrong):
		return ExitUsage
	case ctx.Err() != nil:
		return ExitInterrupted
	}
	for _, row := range codes {
		if errors.Is(err, row.is) {
			return row.code
		}
	}
	var p *client.Problem
	switch {
	case errors.As(err, &fields):
		return ExitUsage
	case errors.As(err, &p) && (p.Status >= 500 || p.Status < 400): // out of order, or a redirect: something else is there
		return ExitUnreachable
	}
	return ExitFailed
}

// errorDoc is an error with --json.
type errorDoc struct {
	Error  string     `json:"error"`
	ID     string     `json:"id,omitempty"` // of the job that it is about
	Exit   int        `json:"exit"`
	Fields []fieldDoc `json:"fields,omitempty"`
	Reason string     `json:"reason,omitempty"`
	JobID  string     `json:"job_id,omitempty"`
}

type fieldDoc struct {
	Field string `json:"field"`
	Rule  string `json:"rule"`
}

func (a *App) printError(ctx context.Context, err error) {
	doc := errorDoc{Error: a.explain(err), Exit: ExitCode(ctx, err)}
	if one := (*jobError)(nil); errors.As(err, &one) {
		doc.ID = one.ID
	}
	var fields client.FieldErrors
	if errors.As(err, &fields) {
		for _, f := range fields {
			doc.Fields = append(doc.Fields, fieldDoc{f.Field, f.Rule})
		}
	}
	if p := (*client.Problem)(nil); errors.As(err, &p) {
		doc.Reason, doc.JobID = p.Reason, p.JobID
	}
	if text, err := json.Marshal(doc); err == nil {
		fmt.Fprintf(a.Errs, "%s\n", safeJSON(text))
	}
}
