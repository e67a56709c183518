package doctor

import (
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// goIsms are what only readers of Go's library know.
var goIsms = regexp.MustCompile(`strconv\.|time: |parsing "|ParseInt|netip\.|url\.|json: |invalid syntax|value out of range|missing unit|unknown unit|invalid argument|%!|main\.|console\.|core\.|0x[0-9a-f]{8}|net/http|dial tcp|context deadline`)

func TestDoctorReachesQueues(t *testing.T) {
	open, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := open.Close(); err != nil {
			t.Error(err)
		}
	})
	here := open.Addr().String()
	mail := httptest.NewUnstartedServer(http.NotFoundHandler())
	mail.Config.ConnState = func(conn net.Conn, _ http.ConnState) { _, _ = conn.Write([]byte("220 mail.example ESMTP ready\r\n")) }
	mail.Start()
	t.Cleanup(mail.Close)
	for address, want := range map[string]string{
		testenv.Rabbit(t) + "?queue=q":                                        "queue: ok",
		"amqp://user:s3cr3t@" + mail.Listener.Addr().String() + "/v?queue=q":  "queue: broken",
		"amqps://user:s3cr3t@" + mail.Listener.Addr().String() + "/v?queue=q": "queue: broken",
		"amqp://user:s3cr3t@nohost.invalid/":                                  "queue: broken",
		"awssqs://" + here + "/1/q?region=eu-west-1":                          "queue: ok",
		"awssqs://sqs.example/1/q?region=r&endpoint=http://" + here:           "queue: ok",
		"gcppubsubv2://projects/p/topics/t?emulator=" + here:                  "queue: ok",
		"mem://default": "queue: ok",
		"":              "queue: left out",
		"amqp://user:s3cr3t@127.0.0.1:1/v?queue=q": "queue: broken",
		"amqp://user:s3cr3t@127.0.0.1:1:1/":        "queue: broken",
		"kafka://user:s3cr3t@h":                    "queue: broken",
		"amqp:///":                                 "queue: broken",
	} {
		var f findings
		checkQueues(t.Context(), &f, boot.Settings{QueueDefaultURL: address}, client.ModeQueues)
		var got []string
		for _, found := range f {
			got = append(got, found.Check+": "+found.State)
			if strings.Contains(found.Text, "s3cr3t") || goIsms.MatchString(found.Text) || found.State == stateBroken && (found.Advice == "" || !strings.Contains(found.Text, "BELFRY_QUEUE_DEFAULT_URL")) {
				t.Errorf("%q: %+v", address, found)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: %q, want %s", address, got, want)
		}
	}
	for address, want := range map[string]string{
		"amqp://h": "h:5672", "amqps://h": "h:5671", "amqp://[::1]/": "[::1]:5672", "awssqs://sqs.eu-west-1.amazonaws.com/1/q": "sqs.eu-west-1.amazonaws.com:443", "gcppubsubv2://p/t": "pubsub.googleapis.com:443",
	} {
		if got, err := queueHost(address); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", address, got, err, want)
		}
	}
}
