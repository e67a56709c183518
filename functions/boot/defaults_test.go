package boot

import "testing"

// A program's own defaults hold for settings that are not set, before those of the table.
func TestReadSettingsOr(t *testing.T) {
	clean(t)
	t.Setenv("BELFRY_ADDR", "127.0.0.1:1")
	s, err := ReadSettingsOr(map[string]string{"BELFRY_LOG_FORMAT": "json", "BELFRY_ADDR": ":8080"})
	if err != nil {
		t.Fatal(err)
	}
	if s.LogFormat != "json" || s.Addr != "127.0.0.1:1" || s.Workers != 1000 {
		t.Errorf("format %q, address %q, %d workers", s.LogFormat, s.Addr, s.Workers)
	}
	if _, err := ReadSettingsOr(map[string]string{"BELFRY_LEASE": "soon"}); err == nil {
		t.Error("a faulty default was taken")
	}
}
