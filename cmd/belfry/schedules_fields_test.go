package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// foreignTexts are what a message must not have: it is the parser's or the program's own.
var foreignTexts = regexp.MustCompile(`yaml|json:|main\.|client\.|did not find|could not find|unmarshal|\bstruct\b|map\[|context\)|document start|token`)

// A field of a file that is given is meant: empty, zero or null it is refused by its line and name. The fields are those of
// the API's document, so that the next one is walked too.
func TestNoFieldOfAFileIsMeantAsNothing(t *testing.T) {
	t.Setenv("BELFRY_WEBHOOK_SECRETS", webhookSecret)
	address := nodetest.Start(t, "api")
	r := newRig(t, address)
	fields := fieldsOfSchedules(t, address)
	for _, field := range append(fields, "name") {
		for _, empty := range []string{`""`, "0", "0s", "null", "[]", "{}", "", "~", "[\"\"]"} {
			if field == "payload" && empty != "" && empty != "~" || field == "tags" && empty == "[]" || field == "jitter" && empty == "0s" || slices.Contains([]string{"tenant", "name", "type"}, field) && empty == "0s" {
				continue // a payload is any JSON; no tags are no tags; 0s of jitter is none; "0s" is a text
			}
			lines := map[string]string{"name": "s", "type": "a", "cron": `"@daily"`}
			if lines[field] = empty; field == "every" {
				delete(lines, "cron")
			}
			r.in = "schedules:\n  -\n"
			for _, name := range []string{"type", "cron", "name"} {
				if value, ok := lines[name]; ok && name != field {
					r.in += "    " + name + ": " + value + "\n"
				}
			}
			r.in += "    " + field + ": " + empty + "\n"
			place := fmt.Sprintf("line %d: ", strings.Count(r.in, "\n"))
			if field != "name" {
				place += "s: "
			}
			if code := r.run("schedules", "apply", "-", "--yes"); code != console.ExitUsage || !strings.Contains(r.errs, place+field) || foreignTexts.MatchString(r.errs) {
				t.Errorf("%s: %s: %d %s%s\nwant %q", field, empty, code, r.out, r.errs, place+field)
			}
		}
	}
	if out := r.ok("schedules", "list"); out != "there are no schedules\n" {
		t.Error(out)
	}
	if len(fields) < 25 {
		t.Errorf("%d fields: %v", len(fields), fields)
	}
	t.Logf("%d fields of files, and name", len(fields))
}

// fieldsOfSchedules are the fields of a definition, as the API's document lists them.
func fieldsOfSchedules(t *testing.T, address string) (names []string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]json.RawMessage }
		}
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil || json.Unmarshal(text, &doc) != nil {
		t.Fatalf("%v %.200s", err, text)
	}
	for name, schema := range doc.Components.Schemas {
		if strings.EqualFold(name, "newScheduleDoc") || strings.EqualFold(name, "newSchedule") {
			for field := range schema.Properties {
				names = append(names, field)
			}
		}
	}
	slices.Sort(names)
	return names
}

// The error about a field without a value advises nothing that would be refused in turn, such as null.
func TestAdviceAboutAFieldWithoutAValue(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	for _, field := range []string{"tenant", "time_zone", "starts_at"} {
		r.in = "schedules:\n  - name: s\n    type: a\n    cron: \"@daily\"\n    " + field + ":\n"
		if code := r.run("schedules", "apply", "-", "--check"); code != console.ExitUsage || !strings.Contains(r.errs, field+": has no value: give it one, or leave it out") {
			t.Errorf("%s: %d %s", field, code, r.errs)
		}
	}
}

// webhookSecret turns deliveries on.
const webhookSecret = "whsec_QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE="
