package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/belfry-dev/belfry/core/jsonscan"
)

// Bounds of one request of a batch. The server takes 10,000 jobs and 32 MiB.
const (
	maxBatch      = 10_000
	maxBatchBytes = 16 << 20
)

// Item is the answer for one job of a batch: the job, or why it was refused.
type Item struct {
	Job *Job
	Err error // a *Problem
}

// SubmitBatch submits any number of jobs; item i is for job i. They are sent in parts of up to 10,000 jobs or 16 MiB, each
// one transaction. Of a part the valid jobs are written, or none if the part as a whole fails. On an error SubmitBatch also
// returns the items of the parts before; jobs from len(items) on were not written, except perhaps those of the failed part:
// see ErrUnknown. Parts are retried as in Submit.
func (c *Client) SubmitBatch(ctx context.Context, jobs []NewJob) ([]Item, error) {
	documents := make([]json.RawMessage, len(jobs))
	for i := range jobs {
		var err error
		if documents[i], err = jobs[i].Document(); err != nil {
			return nil, fmt.Errorf("jobs[%d]: %w", i, err)
		}
	}
	return c.SubmitDocuments(ctx, documents, "")
}

// SubmitDocuments is SubmitBatch for jobs that are JSON documents already, in the form of POST /v1/jobs. Each is sent byte
// for byte. Their idempotency key is key and the part's number; "" means a random one. With the same key and the same
// documents a repeated call gets the first one's answers, for as long as the server keeps them.
func (c *Client) SubmitDocuments(ctx context.Context, documents []json.RawMessage, key string) ([]Item, error) {
	if key == "" {
		key = rand.Text()
	}
	items := make([]Item, 0, len(documents))
	for part := 1; len(documents) > 0; part++ {
		n := partOf(documents)
		if n == 0 {
			return items, FieldErrors{{Field: fmt.Sprintf("jobs[%d]", len(items)), Rule: documentFault(documents[0])}}
		}
		answers, err := c.submitPart(ctx, documents[:n], key+"-"+strconv.Itoa(part))
		if err != nil {
			return items, err
		}
		items = append(items, answers...)
		documents = documents[n:]
	}
	return items, nil
}

// documentFault returns why a document cannot be part of a batch: it is not JSON (inside the list it could mean anything),
// not UTF-8, or nested too deep. "" means that it can.
func documentFault(document []byte) string {
	facts, err := jsonscan.Scan(document)
	switch {
	case err != nil:
		return "is not JSON: " + err.Error()
	case facts.Depth > jsonscan.MaxDepth-2: // of the list and what is around it
		return fmt.Sprintf("nests arrays and objects %d deep, at most %d are read", facts.Depth, jsonscan.MaxDepth-2)
	}
	return ""
}

// partOf returns how many documents the next request takes, at least one. Zero means that the first has a documentFault.
func partOf(documents []json.RawMessage) int {
	size := 0
	for n, d := range documents[:min(len(documents), maxBatch)] {
		size += len(d) + 1
		if n > 0 && size > maxBatchBytes || documentFault(d) != "" {
			return n
		}
	}
	return min(len(documents), maxBatch)
}

func (c *Client) submitPart(ctx context.Context, documents []json.RawMessage, key string) ([]Item, error) {
	body := []byte(`{"jobs":[`)
	for i, d := range documents {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, d...)
	}
	call := call{method: http.MethodPost, path: "/v1/jobs/batch", body: append(body, "]}"...), key: key}
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if json.Unmarshal(answer, &list) != nil || len(list.Items) != len(documents) {
		return nil, foreign(call.name())
	}
	items := make([]Item, len(list.Items))
	for i, document := range list.Items {
		if items[i], err = readItem(call.name(), document); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// readItem reads a job, or {"error": {problem}}.
func readItem(name string, document []byte) (Item, error) {
	var refused struct {
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(document, &refused); err != nil {
		return Item{}, foreign(name)
	}
	if refused.Error != nil {
		var status struct {
			Status int `json:"status"`
		}
		if json.Unmarshal(refused.Error, &status) != nil {
			return Item{}, foreign(name)
		}
		return Item{Err: problemOf(name, status.Status, refused.Error)}, nil
	}
	job, err := readJob(name, document)
	return Item{Job: job}, err
}
