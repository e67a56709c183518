package schedules

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

	wanted  json.RawMessage
	version int64
}

type movedTime struct {
	From client.PreviewItem `json:"from"`
	To   client.PreviewItem `json:"to"`
}

// maxTimes is how many fire times one call of the API answers, fewTimes how many are asked for first.
const maxTimes, fewTimes = 1000, 50

// planSchedules compares a file with what is there. Nothing is changed by it; what would be refused is the error, all of it in
// one go. through is told how many schedules of the file are compared.
func planSchedules(ctx context.Context, api *client.Client, file *scheduleFile, now time.Time, days int, del bool, through func(n int)) ([]planned, error) {
	until := now.AddDate(0, 0, days)
	var plan []planned
	named := map[[2]string]bool{}
	tenants := map[string]bool{}
	for i := range file.schedules {
		s := &file.schedules[i]
		p, err := planOne(ctx, api, s, until, len(file.faults) == 0)
		var refused client.FieldErrors
		switch {
		case errors.Is(err, client.ErrInvalid) && errors.As(err, &refused):
			file.noteFaults(s, refused)
		case err != nil && len(file.faults) > 0:
			return nil, file.err() // the server has nothing to add
		case err != nil:
			return nil, fmt.Errorf("schedule %s: %w", s.name, err)
		case s.name != "" && named[[2]string{p.Tenant, s.name}]:
			file.fault(s.line, s.place("name"), "is given twice")
		}
		plan = append(plan, p)
		through(len(plan))
		named[[2]string{p.Tenant, s.name}] = true
		tenants[p.Tenant] = true
	}
	if err := file.err(); err != nil {
		return nil, err
	}
	if len(file.schedules) == 0 {
		tenants[""] = true
	}
	for s, err := range api.Schedules(ctx, client.ScheduleFilter{}) {
		if err != nil {
			return nil, err
		}
		if named[[2]string{s.Tenant, s.Name}] || !tenants[s.Tenant] {
			continue
		}
		p := planned{Name: s.Name, Tenant: s.Tenant, Action: "stays", Rule: ruleText(s), version: s.Version, Until: until}
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

// planOne compares one schedule with the one that is there: by what the server says, and in fire times where that is wanted.
func planOne(ctx context.Context, api *client.Client, s *fileSchedule, until time.Time, times bool) (planned, error) {
	p := planned{Name: s.name, Action: "create", Until: until, wanted: s.definition}
	name := s.name
	if name == "" || slices.Contains(noNames, name) {
		name = "unnamed" // that is known already; what else is wrong with it?
	}
	change, err := api.PlanSchedule(ctx, name, s.definition)
	if err != nil {
		return p, err
	}
	p.Tenant, p.Fields, p.version, p.Rule = change.Tenant, change.Fields, change.Version, change.Description
	switch change.Action {
	case "none":
		p.Action = "unchanged"
		return p, nil
	case "change":
		p.Action = "change"
	}
	if times {
		err = p.compareTimes(ctx, api, until)
	}
	return p, err
}

// compareTimes fills in which coming fire times appear, vanish and move.
func (p *planned) compareTimes(ctx context.Context, api *client.Client, until time.Time) error {
	wanted, err := ruleOf(p.wanted)
	if err != nil {
		return fmt.Errorf("schedule %s: %w", p.Name, err)
	}
	var old []client.PreviewItem
	ends, rule := until, wanted.Rule
	if p.version != 0 {
		if !slices.ContainsFunc(p.Fields, func(name string) bool { return slices.Contains(timing, name) }) {
			return nil // an interval goes on from where it began, which a preview does not know
		}
		kept, err := api.GetSchedule(ctx, p.Tenant, p.Name)
		if err != nil {
			return err
		}
		if old, ends, err = standing(ctx, api, kept, until); err != nil {
			return err
		}
		if err := keepInterval(ctx, api, &rule, kept); err != nil {
			return err
		}
	}
	preview := &client.Preview{}
	if rule.EndsAt.IsZero() || rule.StartsAt.Before(rule.EndsAt) {
		// From the server's now, where it would begin to count as well.
		preview, err = enough(until, func(count int) (*client.Preview, error) { return api.PreviewSchedule(ctx, rule, time.Time{}, count) })
		if err != nil {
			return err
		}
	}
	fresh, reach := within(preview.Items, until)
	if wanted.Paused {
		fresh, reach = nil, until
	}
	if p.Until = reach; ends.Before(reach) {
		p.Until = ends
	}
	p.compare(old, fresh)
	return nil
}

// keepInterval lets a rule with the interval of the schedule that it replaces begin at that one's next instant, because it goes on
// from where the interval began.
func keepInterval(ctx context.Context, api *client.Client, rule *client.Rule, kept *client.Schedule) error {
	if rule.Every == 0 || rule.Every != kept.Every || !rule.StartsAt.IsZero() || !kept.StartsAt.IsZero() || kept.Invalid != "" {
		return nil
	}
	next, err := api.NextOccurrences(ctx, kept.Tenant, kept.Name, 1)
	if err == nil && len(next.Items) > 0 {
		rule.StartsAt = next.Items[0].At
	}
	return err
}

// ruleOf is what decides when a schedule fires, of a definition that the server has taken. The other fields are the server's to
// read: it takes numbers and times in more forms than Go does.
func ruleOf(definition json.RawMessage) (wanted client.NewSchedule, err error) {
	var given, kept map[string]json.RawMessage
	if err := json.Unmarshal(definition, &given); err != nil {
		return wanted, err
	}
	kept = map[string]json.RawMessage{}
	for _, name := range timing {
		value, ok := given[name]
		if !ok {
			continue
		}
		if name == "starts_at" || name == "ends_at" {
			value = bytes.ToUpper(value) // RFC 3339 lets t and z be small
		}
		kept[name] = value
	}
	text, err := json.Marshal(kept)
	if err == nil {
		err = json.Unmarshal(text, &wanted)
	}
	return wanted, err
}

// standing are the coming fire times of a schedule as it stands.
func standing(ctx context.Context, api *client.Client, s *client.Schedule, until time.Time) (times []client.PreviewItem, reach time.Time, err error) {
	if s.Paused || s.Invalid != "" {
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
	return ask(maxTimes)
}

// within are the times up to until, and how far they are known.
func within(items []client.PreviewItem, until time.Time) ([]client.PreviewItem, time.Time) {
	for i, item := range items {
		if item.At.After(until) {
			return items[:i], until
		}
	}
	if len(items) == maxTimes {
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

// ruleNames are the fields of a rule, timing those that say when a schedule fires.
var (
	ruleNames = []string{"cron", "every", "time_zone", "dst_gap", "dst_overlap", "starts_at", "ends_at"}
	timing    = append(ruleNames[:len(ruleNames):len(ruleNames)], "paused")
)
