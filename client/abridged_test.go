package client_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// TestALargeDuplicateOfABatchIsAbridged: a duplicate that a batch's answer shortens is marked as abridged, and Get returns all of it.
func TestALargeDuplicateOfABatchIsAbridged(t *testing.T) {
	c := newClient(t, nodetest.Start(t, "api"), nil)
	payload := json.RawMessage(`"` + strings.Repeat("x", 8<<10) + `"`)
	large := client.NewJob{Type: "nobody", DedupeKey: "k", Payload: payload}
	items, err := c.SubmitBatch(t.Context(), []client.NewJob{large, large})
	if err != nil || len(items) != 2 || items[0].Err != nil || items[1].Err != nil {
		t.Fatalf("%+v, %v", items, err)
	}
	first, second := items[0].Job, items[1].Job
	if first.Abridged || !second.Duplicate || !second.Abridged || second.ID != first.ID {
		t.Errorf("first %+v\nsecond %+v", first, second)
	}
	whole, err := c.Get(t.Context(), second.ID)
	if err != nil || string(whole.Payload) != string(payload) {
		t.Errorf("the whole has a payload of %d bytes, %v", len(whole.Payload), err)
	}
}
