package postgres_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/rulestest"
)

// FuzzRulesOfTheFunction throws any text at both sides of each field that takes one: they accept the same and say the
// same about the rest. What PostgreSQL's own types refuse, Go must refuse too.
func FuzzRulesOfTheFunction(f *testing.F) {
	for _, c := range rulestest.Cases(time.Now()) {
		if c.Job == nil {
			continue
		}
		for field, text := range map[string]string{"payload": string(c.Job.Payload), "target": string(c.Job.Target), "tenant": c.Job.Tenant, "type": c.Job.Type, "traceparent": c.Job.Trace} {
			if text != "" && len(text) < 2000 && strings.HasPrefix(c.Name, field) {
				f.Add(field, text)
			}
		}
	}
	for _, url := range append(rulestest.GoodURLs, rulestest.BadURLs...) {
		f.Add("target.url", url)
	}
	conn := connect(f, migrated(f))
	now := time.Now()
	f.Fuzz(func(t *testing.T, field, text string) {
		job, ok := fuzzed(&field, text)
		if !ok {
			return
		}
		var sql string
		err := conn.QueryRow(t.Context(), `SELECT array_to_string(belfry.job_faults(coalesce($1::text, 'a'), $2::text::json, NULL, NULL, NULL, $3::text, NULL, NULL, NULL, NULL, NULL,
			$4::text::json, NULL, $5::text), '; ')`, only(field, "type", job.Type), only(field, "payload", string(job.Payload)), only(field, "tenant", job.Tenant),
			only(field, "target", string(job.Target)), only(field, "traceparent", job.Trace)).Scan(&sql)
		said := ""
		if _, goErr := core.CheckNewJob(job, core.JobType{}, now); goErr != nil {
			said = goErr.Error()
		}
		var e *pgconn.PgError
		switch {
		case errors.As(err, &e) && said != "" && (strings.HasPrefix(e.Code, "22") || e.Code == "54001"):
		case err != nil:
			t.Errorf("%s %q: SQL fails with %v, Go says %q", field, text, err, said)
		case sql != said:
			t.Errorf("%s %q:\nSQL says %q\nGo says  %q", field, text, sql, said)
		}
	})
}

// fuzzed is the job that has this text in its field.
func fuzzed(field *string, text string) (j core.NewJob, ok bool) {
	j.Type = "a"
	switch *field {
	case "payload":
		j.Payload = []byte(text)
	case "target":
		j.Target = []byte(text)
	case "target.url":
		if !utf8.ValidString(text) {
			return j, false
		}
		*field, j.Target = "target", []byte(`{"url":`+string(must(json.Marshal(text)))+`}`)
	case "tenant":
		j.Tenant = text
	case "type":
		j.Type = text
	case "traceparent":
		j.Trace = text
	default:
		return j, false
	}
	return j, true
}

func only(field, name, text string) any {
	if field != name {
		return nil
	}
	return text
}
