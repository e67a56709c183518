package schedule

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// Change describes how putting a definition would change a schedule.
type Change struct {
	Version     int64    // of the existing schedule. Zero means that there is none
	Fields      []string // sorted names of the fields that would change: "cron", "target.headers.authorization"; also "next_due" if the schedule is Stuck
	Description string   // the new rule in words
}

// Compare returns what Put of a definition would change, and changes nothing. It refuses what Put would refuse, except for a
// version that does not match. Values are compared by meaning: times as instants, JSON without regard to white space and
// order of members, a target's headers by their secret values.
func (a *Acts) Compare(ctx context.Context, tenant, name string, rule core.ScheduleRule) (Change, error) {
	var change Change
	now, err := a.store.Now(ctx)
	if err != nil {
		return change, err
	}
	if err := a.Check(tenant, name, &rule, now); err != nil {
		return change, err
	}
	if a.opts.Types != nil && len(rule.Target) > 0 {
		if err := a.opts.Types.RoomToMark(rule.Type); err != nil {
			return change, err
		}
	}
	kept, err := a.store.GetSchedule(ctx, tenant, name)
	anchor := now
	switch {
	case err == nil && sameInterval(&kept.Rule, &rule):
		anchor = kept.State.Anchor
	case err != nil && !errors.Is(err, core.ErrNotFound):
		return change, fmt.Errorf("compare schedule: %w", err)
	}
	parsed, err := parseRule(&rule, anchor, a.opts.Cache)
	if err != nil {
		return change, err
	}
	if change.Description = parsed.Describe(); kept.Version == 0 {
		return change, nil
	}
	change.Version = kept.Version
	change.Fields, err = differing(&kept.Rule, &rule)
	if old, unread := parseWith(&kept, a.opts.Cache); err == nil && unread == nil && Stuck(&kept, old) != "" {
		change.Fields = append(change.Fields, "next_due")
		slices.Sort(change.Fields)
	}
	return change, err
}

// differing names the fields that differ between two definitions. Both must have their defaults filled in.
func differing(r *core.ScheduleRule, other *core.ScheduleRule) ([]string, error) {
	have, err := fields(r)
	if err != nil {
		return nil, err
	}
	want, err := fields(other)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for name, value := range have {
		if wanted, ok := want[name]; !ok || !equalJSON(value, wanted) {
			names[name] = true
		}
	}
	for name := range want {
		if _, ok := have[name]; !ok {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// fields returns the fields of a definition, with the target's members as fields of their own.
func fields(r *core.ScheduleRule) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("schedule: %w", err)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("schedule: %w", err)
	}
	if fields["payload"] = r.Payload; len(r.Payload) == 0 {
		fields["payload"] = json.RawMessage("{}")
	}
	if liftMembers(fields, "target", fields["target"]) {
		liftMembers(fields, "target.headers", fields["target.headers"])
	}
	return fields, nil
}

// liftMembers replaces a member that is an object by its members. It leaves other values alone.
func liftMembers(fields map[string]json.RawMessage, name string, value json.RawMessage) bool {
	members := map[string]json.RawMessage{}
	if !strings.HasPrefix(string(bytes.TrimSpace(value)), "{") || json.Unmarshal(value, &members) != nil {
		return false
	}
	delete(fields, name)
	for member, value := range members {
		fields[name+"."+member] = value
	}
	return true
}

// equalJSON reports whether two JSON texts have the same value. Numbers are equal if they have the same digits.
func equalJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	one, err := decodeDigits(a)
	if err != nil {
		return false
	}
	two, err := decodeDigits(b)
	return err == nil && reflect.DeepEqual(one, two)
}

// decodeDigits decodes JSON and keeps numbers as written.
func decodeDigits(text json.RawMessage) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}
