package queueurl

import (
	"strings"
	"testing"
)

func TestQueueURLRefuses(t *testing.T) {
	for address, say := range map[string]string{
		"nats://canary@host/subject": "at most once",
		"nats+v1://canary":           "at most once",
		"kafka://canary":             "offsets",
		"awssns:///arn:canary":       "awssqs://",
		"rabbit://canary":            "amqp://",
		"azuresb://canary":           "want awssqs or test",
		"canary":                     "want awssqs or test",
		"":                           "want awssqs or test",
		"awssqs://canary\x7f":        "not a URL",
		"awssqs://u:canary#w@h/q":    "not a URL",
	} {
		_, err := Parse(address, "awssqs", "test")
		if err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: got %v, want %q", address, err, say)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("the error repeats the URL: %v", err)
		}
	}
	if u, err := Parse("test://host/name?a=b", "awssqs", "test"); err != nil || u.Host != "host" {
		t.Errorf("got %v, %v", u, err)
	}
}
