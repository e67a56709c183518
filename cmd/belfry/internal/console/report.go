package console

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/belfry-dev/belfry/client"
)

// Report says on the error stream why a command failed.
func (a *App) Report(ctx context.Context, err error) {
	var quiet *QuietError
	if errors.As(err, &quiet) {
		return
	}
	if a.JSON {
		a.printError(ctx, err)
		return
	}
	var fields client.FieldErrors
	if errors.As(err, &fields) && len(fields) > 1 {
		fmt.Fprintln(a.Errs, "belfry: refused:")
		for _, f := range fields {
			fmt.Fprintf(a.Errs, "  %s: %s\n", Clean(f.Field), Clean(f.Rule))
		}
		return
	}
	fmt.Fprintln(a.Errs, "belfry:", Clean(a.explain(err)))
}

// explain is plain, and of a path that the server does not have that the address may have brought it.
func (a *App) explain(err error) string {
	text := Plain(err)
	if p := (*client.Problem)(nil); errors.As(err, &p) && strings.HasPrefix(p.Detail, "there is nothing at this path") {
		if below := a.BelowPath(); below != "" {
			text += "; " + below
		}
	}
	return text
}

// BelowPath says that the address of the API has a path, and who says so; "" where it has none.
func (a *App) BelowPath() string {
	u, err := url.Parse(a.Address)
	if err != nil || u.Path == "" {
		return ""
	}
	return fmt.Sprintf("calls were made below %s, which %s says: give it the server's address alone, such as %s://%s", u.Path, a.addressFrom, u.Scheme, u.Host)
}

// Plain is what a person wants to know: of an answer that is an error what it says, not which call it answers.
func Plain(err error) string {
	if one := (*jobError)(nil); errors.As(err, &one) && err.Error() == one.Error() {
		return "job " + one.ID + ": " + Plain(one.err)
	}
	text := err.Error()
	if p := (*client.Problem)(nil); errors.As(err, &p) && text == p.Error() {
		text = p.Detail
	}
	if errors.Is(err, client.ErrUnauthorized) {
		text += "; BELFRY_TOKEN, --token or a profile gives one"
	}
	if op := (*net.OpError)(nil); errors.Is(err, client.ErrUnreachable) && errors.As(err, &op) && op.Op == "dial" {
		text += "; is Belfry running there? --url, BELFRY_URL or a profile says where it is"
	}
	return text
}

// jobError is an error about one job, which may be one of several.
type jobError struct {
	ID  string
	err error
}

func (e *jobError) Error() string { return "job " + e.ID + ": " + e.err.Error() }

func (e *jobError) Unwrap() error { return e.err }

// AboutJob names the job that an error is about; nil stays nil.
func AboutJob(id string, err error) error {
	if err == nil {
		return nil
	}
	return &jobError{id, err}
}
