package main

import (
	"bytes"
	"cmp"
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
	line     int
}

// importFlags are what import crontab takes.
type importFlags struct {
	typ, zone, tenant, out string
	system                 bool
	apply                  applyFlags
}

func (a *app) crontabCommand() *cobra.Command {
	f := importFlags{apply: applyFlags{days: 7}}
	c := &cobra.Command{Use: "crontab FILE", Short: "Make schedules of a crontab, after showing when they would run", Args: counted(1, 1, "a crontab, or - for standard input"),
		Long: `Make schedules of a crontab, after showing when they would run, and say line by line what could not be taken and why.
Each line's command becomes the payload of a job: {"command": "…"}, with "stdin" where the line has a %, and "user" with
--system. A handler of the type has to run it. A schedule that is there already under the name of a line stays as it is.

With --out a file for schedules apply is written instead, to look at and to keep, and nothing is made.

CRON_TZ and TZ hold for the lines below them. A crontab without them means the zone of its machine: give it by --time-zone.
Where a line that is a job could not be taken the exit code is 1; the others are taken all the same.`,
		Example: "  crontab -l > crontab.txt && belfry schedules import crontab crontab.txt --type shell --time-zone Europe/Berlin\n" +
			"  crontab -l | belfry schedules import crontab - --type shell --time-zone Europe/Berlin --out schedules.yaml"}
	flagsOf(c).text(&f.typ, "type", "of the jobs (required)")
	flagsOf(c).text(&f.zone, "time-zone", "of lines that no CRON_TZ stands above; left out, UTC")
	flagsOf(c).text(&f.tenant, "tenant", "of the schedules")
	flagsOf(c).path(&f.out, "out", "make nothing, write a file for schedules apply there; - is standard output")
	flagsOf(c).count(&f.apply.days, "days", 1, 366, "how many days of fire times are shown, 1 to 366")
	c.Flags().BoolVarP(&f.apply.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&f.apply.dry, "dry-run", false, "only show what would be made")
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

// notTaken is a line of which no schedule comes.
type notTaken struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

func (a *app) importCrontab(ctx context.Context, api *client.Client, text string, f importFlags) error {
	taken, left := []importedSchedule{}, []notTaken{}
	lost := false
	judged := map[[2]string]string{} // many lines have one rule
	for _, l := range readCrontab(text, f.zone, f.system) {
		if l.fault == "" {
			rule := [2]string{l.cron, l.zone}
			fault, known := judged[rule]
			if !known {
				var err error
				if fault, err = refusal(ctx, api, l); err != nil {
					return err
				}
				judged[rule] = fault
			}
			l.fault = fault
		}
		if l.fault != "" {
			lost = lost || !l.variable
			left = append(left, notTaken{l.number, l.fault})
			continue
		}
		s := importedSchedule{Name: l.name, Cron: l.cron, TimeZone: l.zone, Tenant: f.tenant, Type: f.typ, Payload: map[string]string{"command": l.command}, line: l.number}
		if l.stdin != "" {
			s.Payload["stdin"] = l.stdin
		}
		if l.user != "" {
			s.Payload["user"] = l.user
		}
		taken = append(taken, s)
	}
	if f.out != "" {
		if err := a.writeImported(taken, left, f.out); err != nil {
			return err
		}
	} else {
		kept, err := a.applyImported(ctx, api, taken, left, f.apply)
		if err != nil {
			return err
		}
		lost = lost || kept
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
	if file != "-" {
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			return err
		}
	}
	if a.json {
		return a.printValue(map[string]any{"schedules": taken, "not_taken": left})
	}
	raw := bytes.ContainsFunc(b.Bytes(), func(r rune) bool { return r != '\n' && !shows(r) })
	switch {
	case file != "-":
	case raw: // as JSON, which is YAML too and can escape what a terminal would act on
		if err := a.printValue(map[string]any{"schedules": taken}); err != nil {
			return err
		}
	default:
		if _, err := a.out.Write(b.Bytes()); err != nil {
			return err
		}
	}
	a.tellLeft(len(taken), left)
	return nil
}

// tellLeft says which lines were not taken, and why.
func (a *app) tellLeft(taken int, left []notTaken) {
	for _, l := range left {
		fmt.Fprintf(a.errs, "line %d was not taken: %s\n", l.Line, clean(l.Reason))
	}
	fmt.Fprintf(a.errs, "%s taken, %d not\n", numbered(taken, "line"), len(left))
}

// applyImported makes the schedules of lines, after showing them. What is there already stays as it is: kept reports
// that a line would have changed it.
func (a *app) applyImported(ctx context.Context, api *client.Client, taken []importedSchedule, left []notTaken, f applyFlags) (kept bool, err error) {
	now := a.now()
	plan := []planned{}
	bar := a.progress("lines compared", int64(len(taken)))
	defer bar.end()
	for i, s := range taken {
		bar.at(i, int64(i))
		wanted := client.NewSchedule{Tenant: s.Tenant, Type: s.Type, Payload: s.Payload, Rule: client.Rule{Cron: s.Cron, TimeZone: s.TimeZone}}
		definition, err := wanted.Document()
		if err != nil {
			return false, err
		}
		p, err := planOne(ctx, api, &fileSchedule{name: s.Name, definition: definition}, now, now.AddDate(0, 0, f.days), true)
		if err != nil {
			return false, faultOf(s.Name, err)
		}
		if p.Action == "change" {
			kept = true
			left = append(left, notTaken{s.line, fmt.Sprintf("there is a schedule %s already, with another %s: it stays as it is", s.Name, strings.Join(p.Fields, ", "))})
			continue
		}
		plan = append(plan, p)
	}
	bar.end()
	slices.SortFunc(left, func(a, b notTaken) int { return cmp.Compare(a.Line, b.Line) })
	if a.json {
		for _, l := range left {
			if err := a.printValue(map[string]any{"action": "not_taken", "line": l.Line, "reason": l.Reason}); err != nil {
				return kept, err
			}
		}
	} else {
		a.tellLeft(len(plan), left)
	}
	return kept, a.follow(ctx, api, plan, f)
}
