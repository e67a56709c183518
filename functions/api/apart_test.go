package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/stats"
)

// Rows that are set apart are counted, some of them named, and a metric; none of it while there are none.
func TestRowsThatAreSetApart(t *testing.T) {
	kept := &someStats{stats: core.Stats{Now: at(0), SetApart: []core.ApartCount{{Kind: core.ApartJob, Rows: 25}, {Kind: core.ApartAlert, Rows: 2}}}}
	b := newBench(t, func(o *api.Options) { o.Stats = kept })
	doc := decode[stats.Stats](t, b.do("GET", "/v1/stats", "").want(t, http.StatusOK))
	if doc.SetApartRows != 27 || len(doc.SetApart) != 20 {
		t.Fatalf("%d rows, %d named", doc.SetApartRows, len(doc.SetApart))
	}
	if got := doc.SetApart[2]; got.Row != "job 3 (mail.\uFFFD)" || got.Act != "claim" || got.Error != "missing chunk" || got.Tries != 3 || got.Since == "" || got.RetryAt <= got.Since {
		t.Errorf("%+v", got)
	}
	metrics := b.do("GET", "/metrics", "").want(t, http.StatusOK).body
	for _, want := range []string{`belfry_set_apart_rows{kind="job"} 25`, `belfry_set_apart_rows{kind="alert"} 2`, `belfry_set_apart_rows{kind="schedule"} 0`} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("no %s", want)
		}
	}

	b = newBench(t, func(o *api.Options) { o.Stats = noneApart{&someStats{stats: core.Stats{Now: at(0)}}} })
	plain := decode[map[string]json.RawMessage](t, b.do("GET", "/v1/stats", "").want(t, http.StatusOK))
	if plain["set_apart"] != nil || plain["set_apart_rows"] != nil {
		t.Errorf("without any: %s", plain["set_apart"])
	}
}

// noneApart is not to be asked.
type noneApart struct{ *someStats }

func (noneApart) Apart(context.Context, int) ([]core.RowFault, error) {
	panic("asked for rows although there are none")
}
