package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/internal/nodetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

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

func TestDoctorLooksAtSettings(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqr"
	t.Setenv("BELFRY_WEBHOOK_SECRETS", secret)
	t.Setenv("BELFRY_WEBHOOK_ALLOW", "127.0.0.1")
	r := newRig(t, nodetest.Start(t, "api"))
	says := func(code int, line string) {
		t.Helper()
		if got := r.run("doctor"); got != code || !strings.Contains(r.out, line) || strings.Contains(r.out, secret[6:]) {
			t.Errorf("doctor: %d, does not say %q\n%s%s", got, line, r.out, r.errs)
		}
	}
	says(exitOK, "ok        webhooks      signed with 1 secret; 0 types have a target\n")
	r.ok("types", "put", "a", "--target", "http://127.0.0.1:9/")
	says(exitOK, "ok        webhooks      signed with 1 secret; 1 type has a target\n")
	says(exitOK, "ok        settings")
	os.Unsetenv("BELFRY_WEBHOOK_SECRETS")
	says(exitFailed, "warning   webhooks      1 type with a target, and no BELFRY_WEBHOOK_SECRETS here: a\n")
	t.Setenv("BELFRY_WEBHOOK_SECRETS", "whsec_short")
	says(exitFailed, "broken    settings      BELFRY_WEBHOOK_SECRETS: ")
	t.Setenv("BELFRY_WEBHOOK_SECRETS", secret)
	t.Setenv("BELFRY_QUEUE_DEFAULT_URL", "mem://default")
	says(exitFailed, "BELFRY_QUEUE_BULK_URL: is not set, but another queue is")
	for _, name := range []string{"CRITICAL", "DEFAULT", "BULK"} {
		t.Setenv("BELFRY_QUEUE_"+name+"_URL", "http://user:"+secret[6:]+"@127.0.0.1:1/"+name)
	}
	says(exitFailed, "broken    settings      refused: BELFRY_QUEUE_CRITICAL_URL, BELFRY_QUEUE_DEFAULT_URL, BELFRY_QUEUE_BULK_URL\n")
	says(exitFailed, `there are no queues with the scheme "http": want amqp`)
	for _, name := range []string{"CRITICAL", "DEFAULT", "BULK"} {
		os.Unsetenv("BELFRY_QUEUE_" + name + "_URL")
	}
	says(exitOK, "left out  queue ")
}
