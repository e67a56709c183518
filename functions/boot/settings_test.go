package boot

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// clean hides the BELFRY_ variables of whoever runs the test.
func clean(t *testing.T) {
	for _, kv := range os.Environ() {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "BELFRY_") {
			t.Setenv(name, value)
			os.Unsetenv(name)
		}
	}
}

func TestReadSettingsDefaultsAreValid(t *testing.T) {
	clean(t)
	s, err := ReadSettings()
	if err != nil {
		t.Fatal(err)
	}
	if s.Workers != 1000 || s.Addr != "127.0.0.1:8080" || s.QueueMode() {
		t.Fatalf("defaults: %+v", s)
	}
}

// TestDatabasePasswordMustBeEncoded: told by the setting, whatever the odd character does to the URL.
func TestDatabasePasswordMustBeEncoded(t *testing.T) {
	for password, good := range map[string]bool{
		"canary": true, "can%40ary": true, "can&=+:ary": true, "can@ary": false, "can/ary": false, "can#ary": false, "can?ary": false, "can%ary": false,
	} {
		clean(t)
		t.Setenv("BELFRY_DATABASE_URL", "postgres://u:"+password+"@h:5432/d?application_name=a@b")
		_, err := ReadSettings()
		if (err == nil) != good || err != nil && (!strings.Contains(err.Error(), "percent-encoded") || strings.Contains(err.Error(), "can")) {
			t.Errorf("%s: %v", password, err)
		}
	}
}

func TestReadSettingsNamesTheSetting(t *testing.T) {
	for name, row := range map[string]struct{ value, say string }{
		"BELFRY_LEASE":                   {"40s", "two heartbeats"},
		"BELFRY_HEARTBEAT":               {"twenty", "duration"},
		"BELFRY_TICK":                    {"-1s", "100ms to 1m"},
		"BELFRY_BUCKET_LEASE":            {"1s", "3s to 10m"},
		"BELFRY_WORKERS":                 {"0", "1 to 100000"},
		"BELFRY_CRITICAL_WORKERS":        {"1000", "0 to 999"},
		"BELFRY_WORKER_PRIORITIES":       {"bulk,urgent", `"urgent": want critical, default or bulk`},
		"BELFRY_DATABASE_POOL":           {"many", "whole number"},
		"BELFRY_DATABASE_URL":            {"mysql://u:canary@h/d", "postgres://"},
		"BELFRY_CLOUDSQL_INSTANCE":       {"instance", "PROJECT:REGION:INSTANCE"},
		"BELFRY_CLOUDSQL_IAM":            {"true", "BELFRY_CLOUDSQL_INSTANCE"},
		"BELFRY_CLOUDSQL_IP":             {"any", "public, private or psc"},
		"BELFRY_QUEUE_CRITICAL_URL":      {"mem", "gocloud URL"},
		"BELFRY_QUEUES":                  {"media", "NAME=TYPE,TYPE"},
		"BELFRY_QUEUES_URL":              {"mem://canary", "set BELFRY_QUEUES, too"},
		"BELFRY_WORKER_QUEUES":           {"media", "set BELFRY_QUEUES, too"},
		"BELFRY_WINDOW":                  {"1", "100 to 1000000"},
		"BELFRY_TIMEOUT":                 {"1ms", "1s to"},
		"BELFRY_START_WAIT":              {"-1s", "0s to 24h"},
		"BELFRY_REQUEST_MEMORY":          {"256MiB", "whole number"},
		"BELFRY_STOP_DELAY":              {"11m", "0s to 10m"},
		"BELFRY_KEEP_ALIVE":              {"1ms", "1s to 24h"},
		"BELFRY_STOP_GRACE":              {"9999h", "0s to 1h"},
		"BELFRY_MOST_TIMEOUT":            {"1ms", "1s to"},
		"BELFRY_PUSH_DEADLINE":           {"11m", "10s to 10m"},
		"BELFRY_TICK_TIME":               {"1s", "5s to 30m"},
		"BELFRY_CALLER_KEYS_URL":         {"http://keys.example.com/", "https://"},
		"BELFRY_CALLER_ACCOUNT":          {"invoker", "e-mail"},
		"BELFRY_HISTORY_RETENTION":       {"-1h", "0s to"},
		"BELFRY_LEDGER_RETENTION":        {"-1h", "0s to"},
		"BELFRY_ALERT_URL":               {"https://alerts.example.com/canary", "BELFRY_WEBHOOK_SECRETS"},
		"BELFRY_ALERT_TOPIC_URL":         {"canary", "gocloud URL"},
		"BELFRY_TOKENS":                  {"canary", "at least 20"},
		"BELFRY_INSECURE":                {"maybe", "true or false"},
		"BELFRY_WEBHOOK_SECRETS":         {"whsec_Y2FuYXJ5,canary", "signing secret 1 of 2"},
		"BELFRY_WEBHOOK_ALLOW":           {"10.0.0.0/33", "neither a network"},
		"BELFRY_WEBHOOK_PORTS":           {"80,70000", "70000"},
		"BELFRY_WEBHOOK_SLOTS":           {"1001", "0 to 1000"},
		"BELFRY_WEBHOOK_PER_TENANT":      {"-1", "0 to 100000"},
		"BELFRY_WEBHOOK_PER_HOST":        {"0", "1 to 10000"},
		"BELFRY_WEBHOOK_CONNECT_TIMEOUT": {"1ms", "100ms to 1m"},
		"BELFRY_WEBHOOK_ANSWER_TIMEOUT":  {"10ms", "1s to 24h"},
		"BELFRY_WEBHOOK_FAILURES":        {"-1", "1 to 1000000"},
		"BELFRY_WEBHOOK_PAUSE":           {"1h", "10ms to 5m"},
		"BELFRY_LOG_LEVEL":               {"loud", "debug, info"},
		"BELFRY_LOG_FORMAT":              {"xml", "text or json"},
	} {
		t.Run(name, func(t *testing.T) {
			clean(t)
			t.Setenv(name, row.value)
			_, err := ReadSettings()
			if err == nil || !strings.Contains(err.Error(), name+":") || !strings.Contains(err.Error(), row.say) {
				t.Fatalf("got %v, want %s and %q", err, name, row.say)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Fatalf("the error repeats a password: %v", err)
			}
		})
	}
}

func TestEverySettingIsInTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	for f := range reflect.TypeFor[Settings]().Fields() {
		def := f.Tag.Get("envDefault")
		if def == "" {
			def = " "
		}
		row := "| `" + f.Tag.Get("env") + "` | " + strings.TrimSpace("`"+def+"`") + " | " + f.Tag.Get("doc") + " |"
		row = strings.Replace(row, "| ` ` |", "| |", 1)
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/settings.md lacks the line\n%s", row)
		}
	}
}

// Names of settings in the code of the programs, those that only one cloud's program reads included.
func TestEveryNameInTheProgramsIsInTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`"(BELFRY_[A-Z_]*[A-Z])"|deployPrefix \+ "([A-Z_]+)"`)
	found := 0
	err = filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range name.FindAllStringSubmatch(string(source), -1) {
			found++
			if setting := cmp.Or(m[1], "BELFRY_DEPLOY_"+m[2]); !strings.Contains(string(text), "`"+setting+"`") {
				t.Errorf("docs/settings.md lacks %s of %s", setting, path)
			}
		}
		return err
	})
	if err != nil || found < 50 {
		t.Fatalf("%d names, %v", found, err)
	}
}

// Where alerts may go is judged as targets are, when they are opened; a setting is wrong only where it is no URL.
func TestAlertURLIsJudgedAsTargetsAre(t *testing.T) {
	clean(t)
	t.Setenv("BELFRY_WEBHOOK_SECRETS", "whsec_"+strings.Repeat("c2VjcmV0", 4))
	for value, good := range map[string]bool{
		"http://127.0.0.1:8090/alerts": true, "http://localhost:8090/": true, "https://alerts.example.com/x?y": true, "http://10.0.0.1/": true,
		"alerts.example.com": false, "ftp://alerts.example.com/canary": false, "http:///canary": false, "http://a b/canary": false,
	} {
		t.Setenv("BELFRY_ALERT_URL", value)
		if _, err := ReadSettings(); (err == nil) != good || err != nil && (!strings.Contains(err.Error(), "BELFRY_ALERT_URL") || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%s: %v", value, err)
		}
	}
}
