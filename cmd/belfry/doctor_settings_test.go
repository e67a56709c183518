package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

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
	says(console.ExitOK, "ok        webhooks      signed with 1 secret; 0 types have a target\n")
	r.ok("types", "put", "a", "--target", "http://127.0.0.1:9/")
	says(console.ExitOK, "ok        webhooks      signed with 1 secret; 1 type has a target\n")
	says(console.ExitOK, "ok        settings")
	os.Unsetenv("BELFRY_WEBHOOK_SECRETS")
	says(console.ExitFailed, "warning   webhooks      1 type with a target, and no BELFRY_WEBHOOK_SECRETS here: a\n")
	t.Setenv("BELFRY_WEBHOOK_SECRETS", "whsec_short")
	says(console.ExitFailed, "broken    settings      BELFRY_WEBHOOK_SECRETS: ")
	t.Setenv("BELFRY_WEBHOOK_SECRETS", secret)
	t.Setenv("BELFRY_QUEUE_DEFAULT_URL", "mem://default")
	says(console.ExitFailed, "BELFRY_QUEUE_BULK_URL: is not set, but another queue is")
	for _, name := range []string{"CRITICAL", "DEFAULT", "BULK"} {
		t.Setenv("BELFRY_QUEUE_"+name+"_URL", "http://user:"+secret[6:]+"@127.0.0.1:1/"+name)
	}
	says(console.ExitFailed, "broken    settings      refused: BELFRY_QUEUE_CRITICAL_URL, BELFRY_QUEUE_DEFAULT_URL, BELFRY_QUEUE_BULK_URL\n")
	says(console.ExitFailed, `there are no queues with the scheme "http": want amqp`)
	for _, name := range []string{"CRITICAL", "DEFAULT", "BULK"} {
		os.Unsetenv("BELFRY_QUEUE_" + name + "_URL")
	}
	says(console.ExitOK, "left out  queue ")
}

func TestDoctorReadsNoDeploymentThatIsNotThere(t *testing.T) {
	r := newRig(t, "http://127.0.0.1:1")
	if code := r.run("doctor", "--deployment", filepath.Join(t.TempDir(), "none")); code != console.ExitUsage || !strings.Contains(r.errs, "--deployment") {
		t.Errorf("%d %s", code, r.errs)
	}
}
