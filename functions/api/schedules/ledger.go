package schedules

import (
	"net/http"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/recurrence"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// maxPreview bounds the instants of one preview.
const maxPreview = 1000

// occurrences answers GET /v1/schedules/{name}/occurrences: the ledger, newest first.
func (a *Calls) occurrences(w http.ResponseWriter, r *http.Request) error {
	p := a.NewParams(r, []string{"tenant", "from", "outcome", "limit", "cursor"})
	filter := p.Filter("occurrences " + r.PathValue("name"))
	q := core.OccurrenceQuery{From: p.Instant("from"), Outcome: p.Text("outcome", 20)}
	if p.Values.Has("outcome") && !validOutcome(q.Outcome) {
		p.Errs.Add("outcome", "must be fired, caught_up, covered or skipped")
	}
	limit := p.Whole("limit", 1, call.MaxPage, call.DefaultPage)
	if before := p.NameCursor(filter); before != "" {
		us, err := strconv.ParseInt(before, 10, 64)
		if err != nil {
			p.Errs.Add("cursor", "must be the next_cursor of a page with the same filters")
		}
		q.Before = time.UnixMicro(us).UTC()
	}
	tenant, name, err := a.scheduleOf(p, r)
	if err != nil {
		return err
	}
	s, err := a.Ledger.GetSchedule(r.Context(), tenant, name)
	if err != nil {
		return scheduleFault(err)
	}
	q.ScheduleID, q.Limit = s.ID, limit
	rows, err := a.Ledger.Occurrences(r.Context(), q)
	if err != nil {
		return err
	}
	next := ""
	if len(rows) == limit {
		next = call.EncodeNameCursor(filter, strconv.FormatInt(rows[limit-1].From.UnixMicro(), 10))
	}
	answer.Page(w, rows, next, appendOccurrence)
	return nil
}

func validOutcome(word string) bool {
	switch word {
	case core.OccurrenceFired, core.OccurrenceCaughtUp, core.OccurrenceCovered, core.OccurrenceSkipped:
		return true
	}
	return false
}

// appendOccurrence appends a ledger row.
func appendOccurrence(b []byte, o *core.Occurrence) []byte {
	b = show.AppendTime(append(b, `{"outcome":"`+o.Outcome+`"`...), "scheduled_for", o.From)
	if o.Count > 1 {
		b = show.AppendTime(b, "to", o.To)
	}
	b = strconv.AppendInt(append(b, `,"count":`...), o.Count, 10)
	if o.Reason != "" {
		b = show.AppendField(b, "reason", o.Reason)
	}
	if o.JobID != 0 {
		b = show.AppendField(b, "job_id", strconv.FormatInt(o.JobID, 10))
	}
	return append(show.AppendTime(b, "at", o.At), '}')
}

// nextOccurrences answers GET /v1/schedules/{name}/next.
func (a *Calls) nextOccurrences(w http.ResponseWriter, r *http.Request) error {
	p := a.NewParams(r, []string{"tenant", "count"})
	count := p.Whole("count", 1, maxPreview, 10)
	tenant, name, err := a.scheduleOf(p, r)
	if err != nil {
		return err
	}
	s, err := a.Ledger.GetSchedule(r.Context(), tenant, name)
	if err != nil {
		return scheduleFault(err)
	}
	rule, err := schedule.Parse(&s)
	if err != nil {
		return scheduleFault(err)
	}
	now, err := a.Stats.Now(r.Context())
	if err != nil {
		return err
	}
	answer.JSON(w, http.StatusOK, appendPreview(nil, rule, now, count))
	return nil
}

// previewSchedule answers POST /v1/schedules/preview, which keeps nothing.
func (a *Calls) previewSchedule(w http.ResponseWriter, r *http.Request) error {
	if err := a.NewParams(r, nil).Problem(); err != nil {
		return err
	}
	body, err := a.ReadBody(w, r, a.Limits.Body)
	if err != nil {
		return err
	}
	raw, err := decode.Parse(body)
	if err != nil {
		return err
	}
	now, err := a.Stats.Now(r.Context())
	if err != nil {
		return err
	}
	d, from, count := &decode.Decoder{}, now, 10
	rule := core.ScheduleRule{Type: "preview"}
	d.Object(raw, append(ruleFields[:len(ruleFields):len(ruleFields)], "from", "count"), func(name string, value []byte) {
		switch name {
		case "from":
			from = d.Instant(name, value, a.Now())
		case "count":
			count = d.Whole(name, value, 1, maxPreview)
		default:
			a.scheduleField(d, &rule, name, value)
		}
	})
	d.AddFaults(schedule.Check("", "preview", &rule, now))
	if p := d.Problem(); p != nil {
		return p
	}
	parsed, err := schedule.ParseRule(&rule, now)
	if err != nil {
		return err
	}
	answer.JSON(w, http.StatusOK, appendPreview(nil, parsed, from, count))
	return nil
}

// appendPreview appends the rule in words, its next instants behind from with the zone's offset of their own dates, and
// what may surprise.
func appendPreview(b []byte, rule *recurrence.Rule, from time.Time, count int) []byte {
	b = show.AppendString(append(b, `{"description":`...), rule.Describe())
	b = append(b, `,"items":[`...)
	for i, at := 0, from; i < count; i++ {
		next, ok := rule.Next(at)
		if !ok {
			break
		}
		at = next.At
		layout := time.RFC3339
		if next.At.Nanosecond() != 0 {
			layout = "2006-01-02T15:04:05.000000Z07:00"
		}
		b = show.AppendString(append(show.Comma(b, i), `{"at":`...), next.At.Format(layout))
		if next.DST != "" {
			b = show.AppendField(b, "dst", string(next.DST))
		}
		b = append(b, '}')
	}
	b = append(b, `],"warnings":[`...)
	for i, text := range rule.Warnings(from) {
		b = show.AppendString(show.Comma(b, i), text)
	}
	return append(b, `]}`...)
}

// listAlerts answers GET /v1/alerts, newest first.
func (a *Calls) listAlerts(w http.ResponseWriter, r *http.Request) error {
	p := a.NewParams(r, []string{"tenant", "kind", "open", "limit", "cursor"})
	filter := p.Filter("alerts")
	q := core.AlertQuery{Tenant: p.Tenant(), Kind: p.Text("kind", 100), Open: p.Flag("open"), Limit: p.Whole("limit", 1, call.MaxPage, call.DefaultPage)}
	q.Before = p.Cursor(filter)
	if err := p.Problem(); err != nil {
		return err
	}
	var err error
	if q.Tenant, err = access.CallerOf(r.Context()).Narrow(q.Tenant); err != nil {
		return err
	}
	alerts, err := a.Ledger.Alerts(r.Context(), q)
	if err != nil {
		return err
	}
	next := ""
	if len(alerts) == q.Limit {
		next = call.EncodeCursor(filter, alerts[len(alerts)-1].ID)
	}
	answer.Page(w, alerts, next, appendAlert)
	return nil
}

func appendAlert(b []byte, al *core.Alert) []byte {
	b = append(strconv.AppendInt(append(b, `{"id":"`...), al.ID, 10), '"')
	b = show.AppendField(b, "kind", al.Kind)
	b = show.AppendField(b, "subject", al.Subject)
	if al.Tenant != "" {
		b = show.AppendField(b, "tenant", al.Tenant)
	}
	b = show.AppendField(b, "detail", al.Detail)
	if al.Count != 0 {
		b = strconv.AppendInt(append(b, `,"count":`...), al.Count, 10)
	}
	b = show.AppendTime(b, "raised_at", al.RaisedAt)
	return append(show.AppendTime(b, "cleared_at", al.ClearedAt), '}')
}
