package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/belfry-dev/belfry/client"
)

// importedSchedule is a schedule as it is written into a file for apply.
type importedSchedule struct {
	Name     string            `yaml:"name" json:"name"`
	Cron     string            `yaml:"cron" json:"cron"`
	TimeZone string            `yaml:"time_zone,omitempty" json:"time_zone,omitempty"`
	Tenant   string            `yaml:"tenant,omitempty" json:"tenant,omitempty"`
	Type     string            `yaml:"type" json:"type"`
	Payload  map[string]string `yaml:"payload" json:"payload"`
}

// importFlags are what import crontab takes.
type importFlags struct {
	typ, zone, tenant, out string
	system                 bool
}

func (a *app) crontabCommand() *cobra.Command {
	var f importFlags
	c := &cobra.Command{Use: "crontab FILE", Short: "Make a file for schedules apply of a crontab", Args: counted(1, 1, "a crontab, or - for standard input"),
		Long: `Make a file for schedules apply of a crontab, and say line by line what could not be taken and why. Each line's command
becomes the payload of a job: {"command": "…"}, with "stdin" where the line has a %, and "user" with --system. A handler
of the type has to run it. Rules are judged by the server; nothing is kept there.

CRON_TZ and TZ hold for the lines below them. A crontab without them means the zone of its machine: give it by --time-zone.
Where a line that is a job could not be taken the exit code is 1, and the file has the others.`,
		Example: "  crontab -l | belfry schedules import crontab - --type shell --time-zone Europe/Berlin --out schedules.yaml"}
	c.Flags().StringVar(&f.typ, "type", "", "of the jobs (required)")
	c.Flags().StringVar(&f.zone, "time-zone", "", "of lines that no CRON_TZ stands above; none means UTC")
	c.Flags().StringVar(&f.tenant, "tenant", "", "of the schedules")
	c.Flags().StringVar(&f.out, "out", "", "write there; none means standard output")
	c.Flags().BoolVar(&f.system, "system", false, "a user stands before each command, as in /etc/crontab and /etc/cron.d")
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.typ == "" {
			return usage("%s wants --type", c.CommandPath())
		}
		api, err := a.client()
		if err != nil {
			return err
		}
		text, err := a.readWhole(args[0])
		if err != nil {
			return usage("%s: %s", args[0], err)
		}
		return a.importCrontab(c.Context(), api, string(text), f)
	}
	return c
}

// notTaken is a line that is not in the file.
type notTaken struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

func (a *app) importCrontab(ctx context.Context, api *client.Client, text string, f importFlags) error {
	taken, left := []importedSchedule{}, []notTaken{}
	lost := false
	for _, l := range readCrontab(text, f.zone, f.system) {
		if l.fault == "" {
			var err error
			if l.fault, err = refusal(ctx, api, l); err != nil {
				return err
			}
		}
		if l.fault != "" {
			lost = lost || !l.variable
			left = append(left, notTaken{l.number, l.fault})
			continue
		}
		s := importedSchedule{Name: l.name, Cron: l.cron, TimeZone: l.zone, Tenant: f.tenant, Type: f.typ, Payload: map[string]string{"command": l.command}}
		if l.stdin != "" {
			s.Payload["stdin"] = l.stdin
		}
		if l.user != "" {
			s.Payload["user"] = l.user
		}
		taken = append(taken, s)
	}
	if err := a.writeImported(taken, left, f.out); err != nil {
		return err
	}
	if lost {
		return &quietError{exitFailed}
	}
	return nil
}

// refusal is why the server refuses a line's rule; "" where it does not.
func refusal(ctx context.Context, api *client.Client, l cronLine) (string, error) {
	_, err := api.PreviewSchedule(ctx, client.Rule{Cron: l.cron, TimeZone: l.zone}, time.Time{}, 1)
	var fields client.FieldErrors
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &fields) && slices.Contains(ruleNames, fields[0].Field):
		var rules []string
		for _, fault := range fields {
			rules = append(rules, fault.Field+": "+fault.Rule)
		}
		return strings.Join(rules, "; "), nil
	}
	return "", err
}

// writeImported writes the file, and says which lines are not in it; as JSON both are one document.
func (a *app) writeImported(taken []importedSchedule, left []notTaken, file string) error {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(map[string]any{"schedules": taken}); err != nil {
		return err
	}
	if file != "" {
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			return err
		}
	}
	if a.json {
		return a.printValue(map[string]any{"schedules": taken, "not_taken": left})
	}
	raw := bytes.ContainsFunc(b.Bytes(), func(r rune) bool { return r != '\n' && !shows(r) })
	switch {
	case file != "":
	case raw: // as JSON, which is YAML too and can escape what a terminal would act on
		if err := a.printValue(map[string]any{"schedules": taken}); err != nil {
			return err
		}
	default:
		if _, err := a.out.Write(b.Bytes()); err != nil {
			return err
		}
	}
	for _, l := range left {
		fmt.Fprintf(a.errs, "line %d was not taken: %s\n", l.Line, clean(l.Reason))
	}
	fmt.Fprintf(a.errs, "%s taken, %d not\n", numbered(len(taken), "line"), len(left))
	return nil
}
