package doctor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/client"
)

// Of many alerts the newest are told, and how many more there are.
func TestDoctorBoundsAlerts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Query().Get("open") != "true" {
			t.Error("asks for alerts that are over")
		}
		item := `{"id":"1","kind":"schedule_missed","subject":"nightly","detail":"no \u001b[2J","raised_at":"2026-01-02T03:04:05Z"}`
		fmt.Fprint(w, `{"items":[`+strings.Repeat(item+",", 14)+item+`],"next_cursor":""}`)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var f findings
	checkAlerts(t.Context(), &f, c)
	if got := states(t, f); len(f) != 11 || f[10].Text != "5 more are open" || f[0].Text != "schedule_missed nightly, since 2026-01-02 03:04:05Z: no \x1b[2J" {
		t.Errorf("%s %+v", got, f)
	}
}
