package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/client"
)

// planned is what applying a file would do to one schedule. Fire times are compared over the days that were asked for,
// as far as the first 1,000 of each side reach.
type planned struct {
	Name   string   `json:"name"`
	Tenant string   `json:"tenant,omitempty"`
	Action string   `json:"action"` // create, change, delete, unchanged, or stays: it is not in the file
	Fields []string `json:"fields,omitempty"`
	Rule   string   `json:"rule,omitempty"`

	Appear []client.PreviewItem `json:"appear,omitempty"`
	Vanish []client.PreviewItem `json:"vanish,omitempty"`
	Move   []movedTime          `json:"move,omitempty"`
	Until  time.Time            `json:"compared_until"`

	wanted  client.NewSchedule
	version int64
}

type movedTime struct {
	From client.PreviewItem `json:"from"`
	To   client.PreviewItem `json:"to"`
}

// mostTimes is how many fire times one call of the API answers, fewTimes how many are asked for first.
const mostTimes, fewTimes = 1000, 50

// planSchedules compares a file with what stands. Nothing is changed by it. through is told how many schedules of the
// file are compared.
func planSchedules(ctx context.Context, api *client.Client, wanted []client.NewSchedule, now time.Time, days int, del bool, through func(n int)) ([]planned, error) {
	until := now.AddDate(0, 0, days)
	var plan []planned
	named := map[[2]string]bool{}
	tenants := map[string]bool{}
	for _, s := range wanted {
		p, err := planOne(ctx, api, s, now, until)
		if err != nil {
			return nil, err
		}
		plan = append(plan, p)
		through(len(plan))
		named[[2]string{p.Tenant, s.Name}] = true
		tenants[p.Tenant] = true
	}
	if len(wanted) == 0 {
		tenants[""] = true
	}
	for s, err := range api.Schedules(ctx, client.ScheduleFilter{}) {
		if err != nil {
			return nil, err
		}
		if named[[2]string{s.Tenant, s.Name}] || !tenants[s.Tenant] {
			continue
		}
		p := planned{Name: s.Name, Tenant: s.Tenant, Action: "stays", Rule: s.Description, version: s.Version, Until: until}
		if del {
			p.Action = "delete"
			times, end, err := standing(ctx, api, s, until)
			if err != nil {
				return nil, err
			}
			p.Vanish, p.Until = times, end
		}
		plan = append(plan, p)
	}
	return plan, nil
}

// planOne compares one schedule of the file.
func planOne(ctx context.Context, api *client.Client, s client.NewSchedule, now, until time.Time) (planned, error) {
	p := planned{Name: s.Name, Tenant: s.Tenant, Action: "create", Until: until, wanted: s}
	var old []client.PreviewItem
	ends := until
	kept, err := api.GetSchedule(ctx, s.Tenant, s.Name)
	switch {
	case errors.Is(err, client.ErrNotFound):
	case err != nil:
		return p, err
	default:
		p.Tenant = kept.Tenant // the token's own, where the file names none
		p.version = kept.Version
		if p.Fields, err = differing(&kept.NewSchedule, &s); err != nil {
			return p, err
		}
		if p.Action = "change"; len(p.Fields) == 0 {
			p.Action, p.Rule = "unchanged", kept.Description
			return p, nil
		}
		if old, ends, err = standing(ctx, api, kept, until); err != nil {
			return p, err
		}
	}
	preview, err := enough(until, func(count int) (*client.Preview, error) { return api.PreviewSchedule(ctx, s.Rule, now, count) })
	if err != nil {
		return p, faultOf(s.Name, err)
	}
	p.Rule = preview.Description
	fresh, reach := within(preview.Items, until)
	if s.Paused {
		fresh, reach = nil, until
	}
	if kept != nil && sameRule(&kept.NewSchedule, &s) && kept.Paused == s.Paused {
		return p, nil // an interval goes on from where it began, which a preview does not know
	}
	if p.Until = reach; ends.Before(reach) {
		p.Until = ends
	}
	p.compare(old, fresh)
	return p, nil
}

// standing are the coming fire times of a schedule as it stands.
func standing(ctx context.Context, api *client.Client, s *client.Schedule, until time.Time) (times []client.PreviewItem, reach time.Time, err error) {
	if s.Paused {
		return nil, until, nil
	}
	next, err := enough(until, func(count int) (*client.Preview, error) {
		return api.NextOccurrences(ctx, s.Tenant, s.Name, count)
	})
	if err != nil {
		return nil, until, err
	}
	times, reach = within(next.Items, until)
	return times, reach, nil
}

// enough asks for the fire times up to until: for few first, which most schedules have no more of.
func enough(until time.Time, ask func(count int) (*client.Preview, error)) (*client.Preview, error) {
	p, err := ask(fewTimes)
	if err != nil || len(p.Items) < fewTimes || p.Items[len(p.Items)-1].At.After(until) {
		return p, err
	}
	return ask(mostTimes)
}

// within are the times up to until, and how far they are known.
func within(items []client.PreviewItem, until time.Time) ([]client.PreviewItem, time.Time) {
	for i, item := range items {
		if item.At.After(until) {
			return items[:i], until
		}
	}
	if len(items) == mostTimes {
		return items, items[len(items)-1].At
	}
	return items, until
}

// compare fills in what appears, vanishes and moves. As many that vanish as appear are moves, in order.
func (p *planned) compare(old, fresh []client.PreviewItem) {
	missing := func(from, in []client.PreviewItem) (list []client.PreviewItem) {
		has := map[int64]bool{}
		for _, item := range in {
			has[item.At.UnixMicro()] = true
		}
		for _, item := range from {
			if !has[item.At.UnixMicro()] && !item.At.After(p.Until) {
				list = append(list, item)
			}
		}
		return list
	}
	p.Vanish, p.Appear = missing(old, fresh), missing(fresh, old)
	if len(p.Vanish) == len(p.Appear) {
		for i := range p.Vanish {
			p.Move = append(p.Move, movedTime{p.Vanish[i], p.Appear[i]})
		}
		p.Vanish, p.Appear = nil, nil
	}
}

// differs reports whether applying would do something.
func (p *planned) differs() bool { return p.Action != "unchanged" && p.Action != "stays" }

var ruleNames = []string{"cron", "every", "time_zone", "dst_gap", "dst_overlap", "starts_at", "ends_at"}

func sameRule(a, b *client.NewSchedule) bool {
	fields, err := differing(a, b)
	return err == nil && !slices.ContainsFunc(fields, func(name string) bool { return slices.Contains(ruleNames, name) })
}

// defaults are what the API fills in.
var defaults = map[string]string{
	"dst_gap": `"run_at_transition"`, "dst_overlap": `"first"`, "missed": `"once"`, "overlap": `"allow"`, "priority": `"default"`, "payload": `{}`,
}

// differing names the fields in which a definition differs from the one that stands. Values of a target's headers are
// never told, and so count as differing.
func differing(kept, wanted *client.NewSchedule) (names []string, err error) {
	have, err := fieldsOf(kept)
	if err != nil {
		return nil, err
	}
	want, err := fieldsOf(wanted)
	if err != nil {
		return nil, err
	}
	for name := range want {
		if _, ok := have[name]; !ok {
			names = append(names, name)
		}
	}
	for name, value := range have {
		if name == "tenant" && want[name] == "" {
			continue // the token's own
		}
		if value != want[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// fieldsOf are the fields of a definition as text, each in one form.
func fieldsOf(s *client.NewSchedule) (map[string]string, error) {
	document, err := s.Document()
	if err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(document, &raw); err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for name, value := range defaults {
		fields[name] = value
	}
	for name, value := range raw {
		if name != "payload" {
			fields[name] = string(value)
			continue
		}
		var any any
		decoder := json.NewDecoder(bytes.NewReader(value))
		decoder.UseNumber()
		if err := decoder.Decode(&any); err != nil {
			return nil, err
		}
		sorted, err := json.Marshal(any)
		if err != nil {
			return nil, err
		}
		fields[name] = string(sorted)
	}
	return fields, nil
}
