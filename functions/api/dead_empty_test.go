package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// What destroys reads no filter that is empty as one that is not there: DELETE …?tenant=t&type=$TYPE of a script whose
// variable is empty discarded every type.
func TestDiscardRefusesEmptyFilters(t *testing.T) {
	b := newBench(t)
	b.bury(2, "a", "no")
	for _, query := range []string{"type=&all=true", "tenant=&type=", "type=&error_group=0123456789abcdef", "all=true&dry_run=", "all=true&dry_run", "all=&type=a", "error_group=&all=true", "failed_before=&all=true", "id=&all=true", "limit=&all=true"} {
		a := b.do("DELETE", "/v1/dead-letters?"+query, "").want(t, http.StatusUnprocessableEntity)
		if !strings.Contains(a.body, `"errors":[{`) {
			t.Errorf("%s: %s", query, a.body)
		}
	}
	if got := b.do("DELETE", "/v1/dead-letters?all=true&dry_run=true", "").want(t, http.StatusOK).body; !strings.Contains(got, `"remaining":2`) {
		t.Error(got)
	}
}
