package main

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/functions/boot"
)

// What is printed is what deliveries are signed by; what cannot be derived is told by its name, and no secret is.
func TestWebhookSecret(t *testing.T) {
	newest := "whsec_" + base64.StdEncoding.EncodeToString([]byte("canary of the newest secret"))
	older := "whsec_" + base64.StdEncoding.EncodeToString([]byte("canary of an older secret!!"))
	r := newRig(t, "http://127.0.0.1:1")
	r.env["BELFRY_WEBHOOK_SECRETS"] = newest + "," + older
	for line, scope := range map[string][2]string{
		"--tenant acme": {"acme", ""}, "--type invoice.send": {"", "invoice.send"}, "--type belfry.alert": {"", "belfry.alert"},
		"--tenant acme --type invoice.send": {"acme", "invoice.send"}, "--tenant café": {"café", ""},
	} {
		want, err := boot.DeriveWebhookSecret(newest, scope[0], scope[1])
		if err != nil {
			t.Fatal(err)
		}
		if got := r.ok(append([]string{"webhooks", "secret"}, strings.Fields(line)...)...); got != want+"\n" {
			t.Errorf("%s: %q", line, got)
		}
		if got := r.ok(append([]string{"webhooks", "secret", "--json"}, strings.Fields(line)...)...); got != `{"secret":"`+want+`"}`+"\n" {
			t.Errorf("%s as JSON: %q", line, got)
		}
	}
	for _, c := range []struct {
		secrets string
		args    []string
		says    string
	}{
		{newest, nil, "--tenant, --type, or both"},
		{newest, []string{"--tenant", ""}, "--tenant"},
		{newest, []string{"--type", "a b"}, "--type"},
		{newest, []string{"--tenant", "a\nb"}, "--tenant"},
		{"", []string{"--tenant", "acme"}, "BELFRY_WEBHOOK_SECRETS"},
		{"canary", []string{"--tenant", "acme"}, "BELFRY_WEBHOOK_SECRETS"},
		{"whsec_Y2FuYXJ5", []string{"--tenant", "acme"}, "BELFRY_WEBHOOK_SECRETS"},
	} {
		r.env["BELFRY_WEBHOOK_SECRETS"] = c.secrets
		if c.secrets == "" {
			delete(r.env, "BELFRY_WEBHOOK_SECRETS")
		}
		code := r.run(append([]string{"webhooks", "secret"}, c.args...)...)
		out, errs := r.out, r.errs
		if code != 2 || out != "" || !strings.Contains(errs, c.says) || strings.Contains(errs, "canary") || strings.Contains(errs, "Y2FuYXJ5") {
			t.Errorf("%q: exit %d, %q, %q", c.args, code, out, errs)
		}
	}
}
