package main

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// An answer lets go of the messages that it does not name, and of none where it cannot be trusted.
func TestDone(t *testing.T) {
	var messages []types.Message
	for _, id := range []string{"a", "b", "c"} {
		messages = append(messages, types.Message{MessageId: aws.String(id), ReceiptHandle: aws.String("of " + id)})
	}
	for _, row := range []struct {
		answer string
		want   []string
		fails  bool
	}{
		{`{"batchItemFailures":[]}`, []string{"of a", "of b", "of c"}, false},
		{`{"batchItemFailures":null}`, []string{"of a", "of b", "of c"}, false},
		{`null`, []string{"of a", "of b", "of c"}, false},
		{`{"batchItemFailures":[{"itemIdentifier":"b"}]}`, []string{"of a", "of c"}, false},
		{`{"batchItemFailures":[{"itemIdentifier":"b"},{"itemIdentifier":"b"}]}`, []string{"of a", "of c"}, false},
		{`{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"b"},{"itemIdentifier":"c"}]}`, nil, false},
		{`{"batchItemFailures":[{"itemIdentifier":"z"}]}`, nil, true},
		{`{"batchItemFailures":[{"itemIdentifier":""}]}`, nil, true},
		{`"well"`, nil, true},
		{`{"batchItemFailures":`, nil, true},
	} {
		entries, err := done(messages, []byte(row.answer))
		var got []string
		for _, entry := range entries {
			got = append(got, aws.ToString(entry.ReceiptHandle))
		}
		if (err != nil) != row.fails || !slices.Equal(got, row.want) {
			t.Errorf("%s: deletes %v, %v; want %v, failing: %v", row.answer, got, err, row.want, row.fails)
		}
	}
}

// The emulator says with the status 200 that a function failed.
func TestFailure(t *testing.T) {
	for _, row := range []struct {
		status int
		answer string
		fails  bool
	}{
		{200, `{"batchItemFailures":[]}`, false},
		{200, `null`, false},
		{200, `{"statusCode":500,"body":"{\"errorType\":\"x\"}"}`, false},
		{200, `{"errorMessage":"exit status 2","errorType":"Runtime.ExitError"}`, true},
		{200, `Task timed out after 60.00 seconds`, true},
		{200, ``, true},
		{502, `{}`, true},
	} {
		if err := failure(row.status, []byte(row.answer)); (err != nil) != row.fails {
			t.Errorf("%d %s: %v", row.status, row.answer, err)
		}
	}
}
