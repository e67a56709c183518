package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/core"
)

// noNames are names that no path of the API can carry.
var noNames = []string{".", "..", "preview"}

// checkSchedules holds schedules against the rules before any is made, so that a fault of the last one does not leave
// the first ones changed, and --check finds it. Rules of when they are due are left to the server, which previews each;
// so is what it alone knows, such as the addresses it delivers to. The error is FieldErrors: the faults of all.
func checkSchedules(wanted []client.NewSchedule, now time.Time) error {
	var all client.FieldErrors
	for i := range wanted {
		err := checkSchedule(&wanted[i], now)
		var faults client.FieldErrors
		if err == nil {
			continue
		}
		if err = faultOf(wanted[i].Name, err); !errors.As(err, &faults) {
			return err
		}
		all = append(all, faults...)
	}
	return all.Err()
}

func checkSchedule(s *client.NewSchedule, now time.Time) error {
	document, err := s.Document()
	if err != nil {
		return err
	}
	var rule core.ScheduleRule
	var rest struct{ Payload json.RawMessage }
	if err := errors.Join(json.Unmarshal(document, &rule), json.Unmarshal(document, &rest)); err != nil {
		return err
	}
	rule.Payload = rest.Payload
	var faults client.FieldErrors
	if err := core.CheckSchedule(s.Tenant, s.Name, &rule, now); err != nil && !errors.As(err, &faults) {
		return err
	}
	if slices.Contains(noNames, s.Name) {
		faults.Add("name", "must not be %q", s.Name)
	}
	return slices.DeleteFunc(faults, func(f *client.FieldError) bool { return slices.Contains(ruleNames, f.Field) }).Err()
}

// kindFault says in words that a field of a file is of another kind than it must be; other errors stay as they are.
func kindFault(err error) error {
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) {
		return err
	}
	field := kind.Field[strings.LastIndexByte(kind.Field, '.')+1:]
	if kind.Type.String() == "string" {
		return fmt.Errorf("%s: must be text, not a %s: write it in quotes", field, kind.Value)
	}
	return fmt.Errorf("%s: must not be a %s", field, kind.Value)
}
