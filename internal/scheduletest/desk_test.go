package scheduletest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/functions/api"
)

// desk is the API over a world's store, as users see it.
type desk struct {
	w   *world
	api *api.API
}

func newDesk(w *world) *desk {
	w.Helper()
	submitter := submit.New(w.store, submit.Options{})
	a, err := api.New(api.Options{Submitter: submitter, Jobs: w.store, Stats: w.store, Schedules: w.acts, Ledger: w.store})
	w.must(err)
	w.Cleanup(func() {
		a.Close()
		if err := submitter.Close(context.Background()); err != nil {
			w.Error(err)
		}
	})
	return &desk{w, a}
}

// next asks for a schedule's next instants behind the store's now, as `belfry schedules next` does. Each is told with the
// offset that its zone has on its own date.
func (d *desk) next(name string, zone *time.Location, count int) []time.Time {
	d.w.Helper()
	r := httptest.NewRequestWithContext(d.w.Context(), http.MethodGet, fmt.Sprintf("/v1/schedules/%s/next?count=%d", name, count), nil)
	answer := httptest.NewRecorder()
	d.api.ServeHTTP(answer, r)
	var body struct {
		Items []struct {
			At time.Time `json:"at"`
		} `json:"items"`
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil || answer.Code != http.StatusOK {
		d.w.Fatalf("next of %s: %d %s: %v", name, answer.Code, answer.Body, err)
	}
	var all []time.Time
	for _, item := range body.Items {
		_, told := item.At.Zone()
		if _, offset := item.At.In(zone).Zone(); told != offset {
			d.w.Fatalf("%s is previewed for %s, in %s", name, item.At, item.At.In(zone))
		}
		all = append(all, item.At.UTC())
	}
	return all
}
