package boot

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// goIsms are what only readers of Go's library know.
var goIsms = regexp.MustCompile(`strconv\.|time: |parsing "|ParseInt|netip\.|url\.|json: |invalid syntax|value out of range|missing unit|unknown unit|parse error|interface conversion|boot\.|env: |%!|reflect|0x[0-9a-f]{6}|net/url|base64\.|illegal base64|lookup |dial `)

// eachSetting calls f for every setting, with a value it would take, "canary" in it where it can have one.
func eachSetting(f func(name, good string, of reflect.Type)) (count int) {
	samples := map[string]string{
		"BELFRY_TOKENS": "canary-canary-canary-canary", "BELFRY_WEBHOOK_SECRETS": "whsec_Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5",
		"BELFRY_DATABASE_URL": "postgres://u:canary@h/d", "BELFRY_WEBHOOK_ALLOW": "canary.example", "BELFRY_WEBHOOK_PORTS": "80",
	}
	for field := range reflect.TypeFor[Settings]().Fields() {
		good := field.Tag.Get("envDefault")
		name := field.Tag.Get("env")
		if samples[name] != "" {
			good = samples[name]
		}
		if good == "" {
			good = "canary"
		}
		f(name, good, field.Type)
		count++
	}
	return count
}

// Every setting, whoever adds it, is refused by its name where the text of its value cannot be meant: empty, of white space,
// in quotes. What it holds is never repeated, for it may be a secret.
func TestNoSettingIsMeantAsNothing(t *testing.T) {
	tried := 0
	count := eachSetting(func(name, good string, of reflect.Type) {
		texts := map[string]string{
			"": "is set, but empty", " ": "white space", "\t\n": "white space", good + "\r": "line ends of Windows", " " + good: "white space", good + "\n": "white space",
			`"` + good + `"`: "quotation mark", "'" + good + "'": "quotation mark", `"` + good: "quotation mark", good + `'`: "quotation mark", "“" + good + "”": "quotation mark",
			`""`: "quotation mark", good + "\xe9": "UTF-8", "\xff\xfe": "UTF-8", "\ufeff" + good: "cannot be seen", good + "\x1b[2J": "cannot be seen",
		}
		if of.Kind() == reflect.Slice {
			n := strings.Count(good, ",") + 1
			next, last := fmt.Sprintf("element %d of %d", n+1, 2*n), fmt.Sprintf("of %d is empty", n+1)
			for text, says := range map[string]string{good + ",": last, "," + good: last, good + `,"` + good + `"`: next + " begins or ends with a quotation mark", good + ", " + good: next} {
				texts[text] = says
			}
		}
		for text, says := range texts {
			tried++
			clean(t)
			t.Setenv(name, text)
			_, err := ReadSettings()
			if err == nil || !strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s=%q: %v, want %q", name, text, err, says)
			}
			if err != nil && (strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "Y2Fu") || goIsms.MatchString(err.Error())) {
				t.Errorf("%s=%q: the error repeats the value or speaks of Go: %v", name, text, err)
			}
		}
	})
	clean(t)
	t.Setenv("BELFRY_TOKENS", `"secret"`)
	t.Setenv("BELFRY_WORKERS", "")
	t.Setenv("BELFRY_DEPLOY_ROLES", "")
	t.Setenv("BELFRY_LEASE", "soon")
	if _, err := ReadSettings(); err == nil || strings.Count(err.Error(), "\n") != 3 || !strings.Contains(err.Error(), "BELFRY_DEPLOY_ROLES: is set, but empty") {
		t.Errorf("four faults are told as %v", err)
	}
	t.Logf("%d settings, %d values", count, tried)
}

// What a setting says of a bad value is what its reader needs: its name, and what is wanted, in no words of Go's.
func TestFaultsOfSettingsAreNotGos(t *testing.T) {
	tried, refused := 0, 0
	values := []string{
		"x", "-1", "1.5", "99999999999999999999", "9999999h", "-9999999h", "5", "1d", "0x10", "1e9", "truth", "NaN", "%zz", "://", "http://[::1", "postgres://[::1", "mem://", "a b", ":", "::", "[", ":99999999", "999.999.999.999",
		"10.0.0.0/33", "1.2.3.4.5", "[::1%eth0]", "whsec_!", "whsec_", "amqp://%", "a,b", "1,2,x", strings.Repeat("9", 5000), "é", "{}", "null", "$HOME", "${X}",
	}
	count := eachSetting(func(name, _ string, of reflect.Type) {
		for _, value := range values {
			tried++
			clean(t)
			t.Setenv(name, value)
			_, err := ReadSettings()
			if err == nil {
				continue
			}
			refused++
			text := err.Error()
			if len(value) > 3 {
				text = strings.ReplaceAll(text, value, "VALUE") // which may look like anything
			}
			if !strings.Contains(text, name+":") && !strings.Contains(text, "but another queue is") || goIsms.MatchString(text) || len(text) > 6000 {
				t.Errorf("%s=%.60q: %.500v", name, value, err)
			}
			number := of == reflect.TypeFor[time.Duration]() || of.Kind() == reflect.Int
			if number && !strings.Contains(text, "want ") {
				t.Errorf("%s=%.60q does not say what it wants: %v", name, value, err)
			}
			if of == reflect.TypeFor[time.Duration]() && strings.HasSuffix(value, "9h") && strings.Contains(text, "want a duration") {
				t.Errorf("%s=%s is called none: %v", name, value, err)
			}
		}
	})
	if refused < tried/2 {
		t.Errorf("%d of %d were refused", refused, tried)
	}
	t.Logf("%d settings, %d values, %d refused", count, tried, refused)
}
