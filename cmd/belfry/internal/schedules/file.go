package schedules

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

// maxScheduleFile bounds a file of schedules, maxFileFaults how much is said of one.
const maxScheduleFile, maxFileFaults = 8 << 20, 200

// scheduleFile is a file of schedules, and all that is wrong with it.
type scheduleFile struct {
	schedules []fileSchedule
	faults    []fileFault
}

// fileSchedule is a schedule of a file.
type fileSchedule struct {
	name       string          // "" where it is at fault
	definition json.RawMessage // as the API reads it; what is at fault is null
	line       int             // where it begins; 0 where it is of no file
	lines      map[string]int  // of its fields
}

// readSchedules reads a file of schedules; - is standard input. Each has the fields of the API, and its name.
func readSchedules(a *console.App, name string) (*scheduleFile, error) {
	text, err := readWhole(a, name)
	if err != nil {
		return nil, console.Usage("%s: %s", name, console.FileReason(err))
	}
	if text, err = console.PlainText(text); err != nil {
		return nil, console.Usage("%s %s", name, err)
	}
	root, faults := parseYAML(string(text))
	f := &scheduleFile{faults: faults}
	switch {
	case root != nil:
		f.read(root)
		f.nameTwins()
	case len(faults) == 0:
		return nil, console.Usage("%s: %s", name, noSchedules)
	}
	return f, nil
}

// noSchedules is said of a file that came out empty by accident.
const noSchedules = "names no schedules: write schedules: [] where that is meant"

// nameTwins finds names that one tenant has twice, as far as the file says which tenant it is.
func (f *scheduleFile) nameTwins() {
	seen := map[[2]string]bool{}
	for i := range f.schedules {
		s := &f.schedules[i]
		var of struct {
			Tenant string `json:"tenant"`
		}
		if s.name == "" || json.Unmarshal(s.definition, &of) != nil {
			continue
		}
		if key := [2]string{of.Tenant, s.name}; seen[key] {
			f.fault(s.line, s.place("name"), "is given twice")
		} else {
			seen[key] = true
		}
	}
}

// readWhole reads a file that is not too large.
func readWhole(a *console.App, name string) (text []byte, err error) {
	in := a.In
	if name != "-" {
		file, failed := os.Open(name)
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		in = file
	}
	text, err = io.ReadAll(io.LimitReader(in, maxScheduleFile+1))
	if err == nil && len(text) > maxScheduleFile {
		err = fmt.Errorf("is larger than %d bytes", maxScheduleFile)
	}
	return text, err
}

// read reads the document: a mapping with the list of schedules.
func (f *scheduleFile) read(root *yaml.Node) {
	y := &yamlJSON{lines: map[string]int{}}
	if root.Kind != yaml.MappingNode {
		rule := "must be a mapping with schedules: and a list"
		if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
			rule = noSchedules
		}
		f.fault(root.Line, "", rule)
		return
	}
	named := false
	for _, m := range y.members(root, "", 0) {
		named = named || m.name == "schedules"
		switch list := resolved(m.value); {
		case m.name != "schedules":
			f.fault(m.key.Line, m.name, "is not a field here; a file has schedules")
		case list.Kind == yaml.SequenceNode:
			for _, item := range list.Content {
				f.readOne(y, item)
			}
		case list.Kind == yaml.ScalarNode && list.Tag == "!!null":
			f.fault(m.key.Line, m.name, "has no value: write [] where none is meant")
		default:
			f.fault(m.key.Line, m.name, "must be a list")
		}
	}
	if !named && len(f.faults) == 0 && len(y.faults) == 0 {
		f.fault(root.Line, "", noSchedules)
	}
	f.faults = append(f.faults, y.faults...)
}

// readOne reads one schedule. budget goes on from one to the next.
func (f *scheduleFile) readOne(budget *yamlJSON, item *yaml.Node) {
	from := resolved(item)
	if from.Kind != yaml.MappingNode {
		f.fault(item.Line, "", "must be a schedule: a mapping with name, type and cron or every")
		return
	}
	y := &yamlJSON{lines: map[string]int{}, bytes: budget.bytes, merges: budget.merges, full: budget.full}
	s := fileSchedule{line: item.Line, lines: y.lines}
	named, definition := false, []byte{'{'}
	for _, m := range y.members(from, "", 0) {
		if m.name == "name" {
			if text := y.write(nil, m.value, "name", 1); json.Unmarshal(text, &s.name) != nil || text[0] != '"' {
				y.fault(m.value, "name", "must be text: write it in quotes")
			}
			named, s.line = true, m.key.Line
			continue
		}
		if len(definition) > 1 {
			definition = append(definition, ',')
		}
		y.lines[m.name] = m.key.Line
		definition = append(append(definition, jsonText(m.name)...), ':')
		definition = y.write(definition, m.value, m.name, 1)
	}
	budget.bytes, budget.merges, budget.full = y.bytes, y.merges, y.full
	s.definition = append(definition, '}')
	for _, fault := range y.faults {
		f.fault(fault.line, s.place(fault.field), fault.rule)
	}
	switch {
	case !named:
		f.fault(s.line, "name", "is required")
	case slices.Contains(noNames, s.name):
		f.fault(s.line, s.place("name"), fmt.Sprintf("must not be %q", s.name))
	case s.name == "" && !slices.ContainsFunc(y.faults, func(at fileFault) bool { return at.field == "name" }):
		f.fault(s.line, "name", "must not be empty")
	}
	f.schedules = append(f.schedules, s)
}

// place names a field of a schedule among those of the others.
func (s *fileSchedule) place(field string) string {
	if s.name == "" {
		return field
	}
	return s.name + ": " + field
}

func (f *scheduleFile) fault(line int, field, rule string) {
	if at := (fileFault{line, field, rule}); len(f.faults) < maxFileFaults && !slices.Contains(f.faults, at) {
		f.faults = append(f.faults, at)
	}
}

// unquoted are the rules that a text breaks where it is not in quotes.
var unquoted = []string{"must be a string, not a number", "must be a string, not true or false", "must be a string, not null"}

// noteFaults notes what the server finds wrong with a schedule of the file, except about what is at fault already.
func (f *scheduleFile) noteFaults(s *fileSchedule, found client.FieldErrors) {
	for _, e := range found {
		line, rule := s.lineOf(e.Field), e.Rule
		known := slices.ContainsFunc(f.faults, func(at fileFault) bool {
			return at.field == s.place(e.Field) || strings.HasPrefix(at.field, s.place(e.Field)+".") || strings.HasPrefix(at.field, s.place(e.Field)+"[")
		})
		if known {
			continue
		}
		if slices.Contains(unquoted, rule) {
			rule += ": write it in quotes"
		}
		f.fault(line, s.place(e.Field), rule)
	}
}

// lineOf is where a field stands, or what it is a part of.
func (s *fileSchedule) lineOf(field string) int {
	for field != "" {
		if line := s.lines[field]; line > 0 {
			return line
		}
		field = field[:max(strings.LastIndexAny(field, ".["), 0)]
	}
	return s.line
}

// err is all that is wrong with the file, by line; nil where nothing is.
func (f *scheduleFile) err() error {
	slices.SortStableFunc(f.faults, func(a, b fileFault) int { return cmp.Compare(a.line, b.line) })
	var errs client.FieldErrors
	for _, fault := range f.faults {
		field := fmt.Sprintf("line %d", fault.line)
		if fault.line == 0 {
			field = ""
		}
		if fault.field != "" {
			field = strings.TrimPrefix(field+": "+fault.field, ": ")
		}
		errs = append(errs, &client.FieldError{Field: field, Rule: fault.rule})
	}
	return errs.Err()
}
