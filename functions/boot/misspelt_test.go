package boot

import (
	"bytes"
	"log/slog"
	"reflect"
	"strings"
	"testing"
)

// Every setting with a letter too few, too many or another is told with the setting that is meant. No setting is, nor a
// variable of another program.
func TestMisspeltSettingsAreTold(t *testing.T) {
	names := map[string]bool{}
	for field := range reflect.TypeFor[Settings]().Fields() {
		if name := field.Tag.Get("env"); name != "" {
			names[name] = true
		}
	}
	for name := range names {
		if got := settingMeant(name); got != "" {
			t.Errorf("%s is a setting, and is taken for %s", name, got)
		}
		for _, wrong := range []string{name[:len(name)-1], name + "X", name[:8] + "X" + name[9:], strings.ToLower(name), strings.ReplaceAll(name, "_", "-")} {
			if got := settingMeant(wrong); !names[wrong] && got == "" && wrong != "BELFRY_TOKEN" && strings.Count(wrong, "-") < 3 {
				t.Errorf("%s is not told, meant is %s", wrong, name)
			}
		}
	}
	for _, other := range append([]string{"PATH", "BELFRY_PORT_8080_TCP", "BELFRY_SERVICE_HOST", "BELFRY_DEPLOY_ROLES", "BELFRY_TEST_REQUIRE", "BELFRY_POSTGRES_PASSWORD", "BELFRY_COLOUR"}, otherVariables...) {
		if got := settingMeant(other); got != "" {
			t.Errorf("%s is taken for %s", other, got)
		}
	}
	t.Setenv("BELFRY_WORKER", "hunter2")
	var out bytes.Buffer
	WarnOfMisspelt(slog.New(slog.NewTextHandler(&out, nil)))
	if text := out.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "variable=BELFRY_WORKER nearest=BELFRY_WORKERS") || strings.Contains(text, "hunter2") {
		t.Errorf("%q", text)
	}
}
