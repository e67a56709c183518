package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/belfry-dev/belfry/client"
)

// maxScheduleFile bounds a file of schedules.
const maxScheduleFile = 8 << 20

// scheduleFile is a file of schedules: each has the fields of the API, and its name.
type scheduleFile struct {
	Schedules []map[string]any `yaml:"schedules"`
}

// readSchedules reads a file of schedules; - is standard input. Every fault is told at once. A list that is there and
// empty is not nil.
func (a *app) readSchedules(name string) ([]client.NewSchedule, error) {
	text, err := a.readWhole(name)
	if err != nil {
		return nil, usage("%s: %s", name, err)
	}
	var file scheduleFile
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, usage("%s: %s", name, oneLine(err))
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, usage("%s: holds more than one document", name)
	}
	var list []client.NewSchedule
	if file.Schedules != nil {
		list = []client.NewSchedule{}
	}
	var faults []error
	seen := map[[2]string]bool{}
	for i, fields := range file.Schedules {
		s, err := scheduleOf(fields)
		switch {
		case err != nil:
			err = fmt.Errorf("schedule %d (%q): %w", i+1, s.Name, err)
		case s.Name == "":
			err = fmt.Errorf("schedule %d: has no name", i+1)
		case seen[[2]string{s.Tenant, s.Name}]:
			err = fmt.Errorf("schedule %d (%q): stands twice", i+1, s.Name)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		seen[[2]string{s.Tenant, s.Name}] = true
		list = append(list, s)
	}
	if len(faults) > 0 {
		return nil, usage("%s: %s", name, oneLine(errors.Join(faults...)))
	}
	return list, nil
}

// readWhole reads a file that is not too large.
func (a *app) readWhole(name string) (text []byte, err error) {
	in := a.in
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

// scheduleOf reads one schedule of a file. Fields that are none are refused by name.
func scheduleOf(fields map[string]any) (s client.NewSchedule, err error) {
	name, text := fields["name"].(string)
	s.Name = name
	if named := fields["name"]; named != nil && !text {
		return s, fmt.Errorf("name: must be text, not %v: write it in quotes", named)
	}
	rest := map[string]any{}
	for field, value := range fields {
		if field != "name" {
			rest[field] = value
		}
	}
	document, err := json.Marshal(rest)
	if err != nil {
		return s, fmt.Errorf("is no JSON: %w", err) // a key that is no string
	}
	if err := json.Unmarshal(document, &s); err != nil {
		return s, kindFault(err)
	}
	s.Name = name
	return s, nil
}
