// Package doctor is belfry doctor: it looks for what is wrong, with the API, the settings, the database and a deployment in a cloud, and
// says what to do about it.
package doctor

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

// finding is what one check came to. Advice says what to do about it.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"` // ok, warning, broken or left out
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
}

const (
	stateOK      = "ok"
	stateWarning = "warning"
	stateBroken  = "broken"
	stateLeftOut = "left out"
)

// findings collects what checks came to.
type findings []finding

func (f *findings) ok(check, format string, args ...any) {
	*f = append(*f, finding{Check: check, State: stateOK, Text: fmt.Sprintf(format, args...)})
}

func (f *findings) leftOut(check, text string) {
	*f = append(*f, finding{Check: check, State: stateLeftOut, Text: text})
}

func (f *findings) warn(check, text, advice string) {
	*f = append(*f, finding{check, stateWarning, text, advice})
}

func (f *findings) broken(check, text, advice string) {
	*f = append(*f, finding{check, stateBroken, text, advice})
}

// Command is belfry doctor.
func Command(a *console.App) *cobra.Command {
	c := &cobra.Command{Use: "doctor", Short: "Look for what is wrong, and say what to do about it", Args: console.Args(0, 0, "no arguments"),
		Long: `Look for what is wrong, and say what to do about it: the API, who may call it, clocks, waiting and stuck work, types
without a worker, open alerts; the settings of the environment it runs in, whether its queues can be reached, its webhooks; and, with
--database-url, the database: its version, schema and settings, old snapshots, schedulers, history partitions.

With --deployment, which takes what "terraform output -json" printed, it looks at a deployment made with the Terraform modules too:
functions, queues and their dead letters, the tick's last record, rights that are missing. It asks through the cloud's own command line,
aws or gcloud, which must be installed and signed in.

It changes nothing. The exit code is 1 where something is wrong.`}
	c.RunE = func(c *cobra.Command, _ []string) error { return doctor(c.Context(), a) }
	a.DatabaseFlag(c, false)
	console.FlagsOf(c).Path(&a.Deployment, "deployment", "`file` with what \"terraform output -json\" printed; - for standard input")
	return c
}

func doctor(ctx context.Context, a *console.App) error {
	var f findings
	var deployed *deployment
	if a.Deployment != "" {
		var err error
		if deployed, err = readDeployment(a.Deployment, a.In); err != nil {
			return console.Usage("--deployment: %s", err)
		}
	}
	stats, err := checkAPI(ctx, a, &f)
	if err != nil {
		return err
	}
	checkSettings(ctx, a, &f, stats)
	if a.Database != "" {
		checkDatabase(ctx, a, &f)
	} else {
		f.leftOut("database", "no --database-url and no BELFRY_DATABASE_URL")
	}
	if deployed != nil {
		checkDeployment(ctx, a, &f, deployed)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	wrong := 0
	for _, found := range f {
		if found.State == stateWarning || found.State == stateBroken {
			wrong++
		}
		if a.JSON {
			if err := a.PrintValue(found); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(a.Out, "%-9s %-13s %s\n", found.State, found.Check, console.Clean(found.Text))
		if found.Advice != "" {
			fmt.Fprintf(a.Out, "%-23s → %s\n", "", console.Clean(found.Advice))
		}
	}
	if wrong > 0 {
		return &console.QuietError{Code: console.ExitFailed}
	}
	return nil
}
