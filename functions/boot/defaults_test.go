package boot

import "testing"

// A program's own defaults stand behind the environment, before those of the table; a variable that is set to nothing,
// as compose files do with those the user leaves out, says nothing.
func TestReadSettingsOr(t *testing.T) {
	clean(t)
	t.Setenv("BELFRY_LOG_FORMAT", "")
	t.Setenv("BELFRY_ADDR", "127.0.0.1:1")
	t.Setenv("BELFRY_WEBHOOK_SECRETS", "")
	t.Setenv("BELFRY_TOKENS", "")
	t.Setenv("BELFRY_WORKERS", "")
	s, err := ReadSettingsOr(map[string]string{"BELFRY_LOG_FORMAT": "json", "BELFRY_ADDR": ":8080"})
	if err != nil {
		t.Fatal(err)
	}
	if s.LogFormat != "json" || s.Addr != "127.0.0.1:1" || s.Workers != 1000 || len(s.WebhookSecrets)+len(s.Tokens) != 0 {
		t.Errorf("format %q, address %q, %d workers, %d secrets, %d tokens", s.LogFormat, s.Addr, s.Workers, len(s.WebhookSecrets), len(s.Tokens))
	}
	if _, err := ReadSettingsOr(map[string]string{"BELFRY_LEASE": "soon"}); err == nil {
		t.Error("a faulty default was taken")
	}
}
