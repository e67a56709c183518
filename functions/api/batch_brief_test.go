package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// A batch of short keys cannot ask for an answer that is larger than memory: one small request named a job of 1 MiB
// three thousand times, and the server died of 3 GB of answer.
func TestBatchAbridgesLargeDuplicates(t *testing.T) {
	b := newBench(t)
	large := b.submit(`{"type":"echo","dedupe_key":"large","payload":"` + strings.Repeat("x", 1_000_000) + `"}`)
	small := b.submit(`{"type":"echo","dedupe_key":"small","payload":[7]}`)
	const n = 1000
	body := `{"jobs":[{"type":"echo","dedupe_key":"small"}` + strings.Repeat(`,{"type":"echo","dedupe_key":"large"}`, n) +
		`,{"type":"echo","dedupe_key":"new","payload":"` + strings.Repeat("y", 5000) + `"},{"type":"echo","dedupe_key":"new"}]}`
	a := b.do("POST", "/v1/jobs/batch", body).want(t, http.StatusOK)
	if size := len(a.body); size > 1<<20 {
		t.Errorf("the answer has %d bytes", size)
	}
	got := decode[struct {
		Items []struct {
			job
			Abridged bool `json:"abridged"`
		} `json:"items"`
	}](t, a).Items
	if it := got[0]; it.Abridged || it.ID != small.ID || string(it.Payload) != "[7]" {
		t.Errorf("a small duplicate: %+v", it)
	}
	for _, it := range got[1 : n+1] {
		if !it.Abridged || !it.Duplicate || it.ID != large.ID || string(it.Payload) != "null" {
			t.Fatalf("a large duplicate: %+v", it)
		}
	}
	if it := got[n+1]; it.Abridged || it.Duplicate || len(it.Payload) != 5002 {
		t.Errorf("a large new job: %+v", it)
	}
	if it := got[n+2]; !it.Abridged || !it.Duplicate || it.ID != got[n+1].ID {
		t.Errorf("its repetition: %+v", it)
	}
	if one := decode[job](t, b.do("POST", "/v1/jobs", `{"type":"echo","dedupe_key":"large"}`).want(t, http.StatusOK)); one.ID != large.ID || len(one.Payload) != 1_000_002 {
		t.Errorf("alone, a duplicate comes whole: %d bytes of payload", len(one.Payload))
	}
}
