package schedules

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core/jsonscan"
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

func crontabCommand(a *console.App) *cobra.Command {
	f := importFlags{apply: applyFlags{days: 7}}
	c := &cobra.Command{Use: "crontab FILE", Short: "Make schedules of a crontab, after showing when they would run", Args: console.Args(1, 1, "a crontab, or - for standard input"),
		Long: `Make schedules of a crontab, after showing when they would run, and say line by line what could not be taken and why.
Each line's command becomes the payload of a job: {"command": "…"}, with "stdin" where the line has a %, and "user" with
--system. A handler of the type has to run it. A schedule that is there already under the name of a line stays as it is.

With --out a file for schedules apply is written instead, to look at and to keep, and nothing is made.

CRON_TZ holds for the lines below it; TZ is the zone of the commands alone. A crontab without CRON_TZ means the zone of its
machine: give it by --time-zone.
A line whose command begins with a user is not taken, unless --system=false says that it is a command after all.
Where a line that is a job could not be taken the exit code is 1; the others are taken all the same.`,
		Example: "  crontab -l > crontab.txt && belfry schedules import crontab crontab.txt --type shell --time-zone Europe/Berlin\n" +
			"  crontab -l | belfry schedules import crontab - --type shell --time-zone Europe/Berlin --out schedules.yaml"}
	console.FlagsOf(c).Text(&f.typ, "type", "of the jobs (required)")
	console.FlagsOf(c).Text(&f.zone, "time-zone", "of lines that no CRON_TZ stands above; left out, UTC")
	console.FlagsOf(c).Text(&f.tenant, "tenant", "of the schedules")
	console.FlagsOf(c).Path(&f.out, "out", "make nothing, write a file for schedules apply there; - is standard output")
	console.FlagsOf(c).Count(&f.apply.days, "days", 1, 366, "how many days of fire times are shown, 1 to 366")
	c.Flags().BoolVarP(&f.apply.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&f.apply.dry, "dry-run", false, "only show what would be made")
	c.Flags().BoolVar(&f.system, "system", false, "a user stands before each command, as in /etc/crontab and /etc/cron.d")
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.typ == "" {
			return console.Usage("%s wants --type", c.CommandPath())
		}
		api, err := a.Client()
		if err != nil {
			return err
		}
		text, err := readWhole(a, args[0])
		if err != nil {
			return console.Usage("%s: %s", args[0], console.FileReason(err))
		}
		if fault := jsonscan.EncodingFault(text[:min(len(text), 4)]); strings.Contains(fault, "UTF-16") || strings.Contains(fault, "UTF-32") {
			return console.Usage("%s %s", args[0], fault)
		}
		kind := ownCrontab
		switch {
		case f.system:
			kind = systemCrontab
		case c.Flags().Changed("system"):
			kind = surelyOwn
		}
		return importCrontab(c.Context(), a, api, string(text), kind, f)
	}
	return c
}

// crontabLeft is what a crontab has that is no schedule.
type crontabLeft struct {
	notTaken  []lineNote // jobs of which no schedule comes
	variables []lineNote
	notes     []lineNote // of jobs that were taken
}

// lineNote is what there is to say of a line.
type lineNote struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

func importCrontab(ctx context.Context, a *console.App, api *client.Client, text string, kind cronKind, f importFlags) error {
	taken, left := []importedSchedule{}, crontabLeft{notTaken: []lineNote{}, variables: []lineNote{}, notes: []lineNote{}}
	judged := map[[2]string]verdict{} // many lines have one rule
	for _, l := range readCrontab(text, f.zone, kind) {
		rule := [2]string{l.cron, l.zone}
		found, known := judged[rule]
		if l.fault == "" && !known {
			var err error
			if found, err = judgeRule(ctx, api, l); err != nil {
				return err
			}
			judged[rule] = found
		}
		switch fault := cmp.Or(l.fault, found.fault); {
		case l.variable:
			left.variables = append(left.variables, lineNote{l.number, l.fault})
			continue
		case fault != "":
			left.notTaken = append(left.notTaken, lineNote{l.number, fault})
			continue
		}
		for _, note := range append(l.notes, found.warnings...) {
			left.notes = append(left.notes, lineNote{l.number, note})
		}
		taken = append(taken, imported(l, f))
	}
	var err error
	if f.out != "" {
		err = writeImported(a, taken, left, f.out)
	} else {
		left, err = applyImported(ctx, a, api, taken, left, f.apply)
	}
	if err == nil && len(left.notTaken) > 0 {
		err = &console.QuietError{Code: console.ExitFailed}
	}
	return err
}

// imported is the schedule of a line.
func imported(l cronLine, f importFlags) importedSchedule {
	s := importedSchedule{Name: l.name, Cron: l.cron, TimeZone: l.zone, Tenant: f.tenant, Type: f.typ, Payload: map[string]string{"command": l.command}, line: l.number}
	if l.stdin != "" {
		s.Payload["stdin"] = l.stdin
	}
	if l.user != "" {
		s.Payload["user"] = l.user
	}
	return s
}

// verdict is what the server says of a line's rule.
type verdict struct {
	fault    string // why it refuses it; "" where it does not
	warnings []string
}

// dialect is how warnings about expressions that others read differently begin; others may surprise, but not those who have the crontab.
var dialect = regexp.MustCompile(`classic cron|Quartz`)

func judgeRule(ctx context.Context, api *client.Client, l cronLine) (v verdict, err error) {
	p, err := api.PreviewSchedule(ctx, client.Rule{Cron: l.cron, TimeZone: l.zone}, time.Time{}, 1)
	var fields client.FieldErrors
	switch {
	case err == nil:
		v.warnings = slices.DeleteFunc(p.Warnings, func(text string) bool { return !dialect.MatchString(text) })
		return v, nil
	case errors.As(err, &fields) && slices.Contains(ruleNames, fields[0].Field):
		var rules []string
		for _, fault := range fields {
			rules = append(rules, fault.Field+": "+fault.Rule)
		}
		return verdict{fault: strings.Join(rules, "; ")}, nil
	}
	return v, err
}

// writeImported writes the file, and says which lines are not in it; as JSON both are one document.
func writeImported(a *console.App, taken []importedSchedule, left crontabLeft, file string) error {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(importedNode(taken)); err != nil {
		return err
	}
	if file != "-" {
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintValue(map[string]any{"schedules": taken, "not_taken": left.notTaken, "variables": left.variables, "notes": left.notes})
	}
	raw := bytes.ContainsFunc(b.Bytes(), func(r rune) bool { return r != '\n' && !console.Shows(r) })
	switch {
	case file != "-":
	case raw: // as JSON, which is YAML too and can escape what a terminal would act on
		if err := a.PrintValue(map[string]any{"schedules": taken}); err != nil {
			return err
		}
	default:
		if _, err := a.Out.Write(b.Bytes()); err != nil {
			return err
		}
	}
	tellLeft(a, len(taken), left)
	return nil
}

// importedNode is the document that apply reads. What it would not read as text is in quotes.
func importedNode(list []importedSchedule) *yaml.Node {
	items := &yaml.Node{Kind: yaml.SequenceNode}
	text := func(value string) *yaml.Node {
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
		if literalOfJSON.MatchString(value) || plainRule(n) != "" {
			n.Style = yaml.DoubleQuotedStyle
		}
		return n
	}
	for _, s := range list {
		item := &yaml.Node{Kind: yaml.MappingNode}
		add := func(name string, value *yaml.Node) { item.Content = append(item.Content, text(name), value) }
		for _, field := range [][2]string{{"name", s.Name}, {"cron", s.Cron}, {"time_zone", s.TimeZone}, {"tenant", s.Tenant}, {"type", s.Type}} {
			if field[1] != "" {
				add(field[0], text(field[1]))
			}
		}
		payload := &yaml.Node{Kind: yaml.MappingNode}
		for _, name := range slices.Sorted(maps.Keys(s.Payload)) {
			payload.Content = append(payload.Content, text(name), text(s.Payload[name]))
		}
		add("payload", payload)
		items.Content = append(items.Content, item)
	}
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{text("schedules"), items}}
}

// tellLeft says which lines were not taken, and why.
func tellLeft(a *console.App, taken int, left crontabLeft) {
	type said struct {
		line int
		text string
	}
	var all []said
	for _, l := range left.notTaken {
		all = append(all, said{l.Line, fmt.Sprintf("line %d was not taken: %s", l.Line, l.Reason)})
	}
	for _, l := range left.variables {
		all = append(all, said{l.Line, fmt.Sprintf("line %d is left out: %s", l.Line, l.Reason)})
	}
	for _, l := range left.notes {
		all = append(all, said{l.Line, fmt.Sprintf("line %d: note: %s", l.Line, l.Reason)})
	}
	slices.SortStableFunc(all, func(a, b said) int { return cmp.Compare(a.line, b.line) })
	for _, s := range all {
		fmt.Fprintln(a.Errs, console.Clean(s.text))
	}
	sum := fmt.Sprintf("%s taken, %d not", console.Numbered(taken, "line"), len(left.notTaken))
	if n := len(left.variables); n > 0 {
		sum += "; " + console.Numbered(n, "variable") + " left out"
	}
	fmt.Fprintln(a.Errs, sum)
}

// applyImported makes the schedules of lines, after showing them. What is there already stays as it is: a line that would
// have changed it is not taken.
func applyImported(ctx context.Context, a *console.App, api *client.Client, taken []importedSchedule, left crontabLeft, f applyFlags) (crontabLeft, error) {
	until := a.Now().AddDate(0, 0, f.days)
	plan := []planned{}
	bar := a.Progress("lines compared", int64(len(taken)))
	defer bar.End()
	for i, s := range taken {
		bar.At(i, int64(i))
		wanted := client.NewSchedule{Tenant: s.Tenant, Type: s.Type, Payload: s.Payload, Rule: client.Rule{Cron: s.Cron, TimeZone: s.TimeZone}}
		definition, err := wanted.Document()
		if err != nil {
			return left, err
		}
		p, err := planOne(ctx, api, &fileSchedule{name: s.Name, definition: definition}, until, true)
		if err != nil {
			return left, faultOf(s.Name, err)
		}
		if p.Action == "change" {
			left.notTaken = append(left.notTaken, lineNote{s.line, fmt.Sprintf("there is a schedule %s already, with another %s: it stays as it is", s.Name, strings.Join(p.Fields, ", "))})
			continue
		}
		plan = append(plan, p)
	}
	bar.End()
	if a.JSON {
		for action, lines := range map[string][]lineNote{"not_taken": left.notTaken, "variable": left.variables, "note": left.notes} {
			for _, l := range lines {
				if err := a.PrintValue(map[string]any{"action": action, "line": l.Line, "reason": l.Reason}); err != nil {
					return left, err
				}
			}
		}
	} else {
		tellLeft(a, len(plan), left)
	}
	return left, follow(ctx, a, api, plan, f)
}
