package apifuzz

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// docs/openapi.md lists the rules that hooks.py lets pass, and the checks that schemathesis.toml puts off: all of them.
func TestDocsListWhatIsLetPass(t *testing.T) {
	docs := read(t, "../../docs/openapi.md")
	rules := regexp.MustCompile(`(?m)^        r"\^(.+?)",`).FindAllStringSubmatch(read(t, "hooks.py"), -1)
	if len(rules) < 10 {
		t.Fatalf("%d rules in hooks.py", len(rules))
	}
	for _, rule := range rules {
		words := strings.Fields(strings.NewReplacer(`\\`, `\`, `\d+`, "N", "?", "", "$", "").Replace(rule[1]))
		words[0] = "`" + words[0] // as a cell begins
		if begin := strings.Join(words[:min(2, len(words))], " "); !strings.Contains(docs, begin) {
			t.Errorf("docs/openapi.md has no rule that begins with %s", begin)
		}
	}
	for _, off := range regexp.MustCompile(`checks\.(\w+)\.enabled = false`).FindAllStringSubmatch(read(t, "schemathesis.toml"), -1) {
		if !strings.Contains(docs, "| `"+off[1]+"` | `") {
			t.Errorf("docs/openapi.md does not say why %s is off", off[1])
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
