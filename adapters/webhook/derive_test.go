package webhook

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/testenv"
)

// The functions in the guide derive the same secrets as Belfry, in each language.
func TestGuideDerivesSecrets(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join(root, "docs", "webhooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for language, c := range map[string]struct {
		marker, file, before, after string
		run                         []string
	}{
		"go": {
			"// secretFor is", "main.go",
			"package main\nimport (\n\"crypto/hmac\"\n\"crypto/sha256\"\n\"encoding/base64\"\n\"fmt\"\n\"os\"\n\"strings\"\n)\n",
			"\nfunc main() { fmt.Print(secretFor(os.Args[1], os.Args[2], os.Args[3])) }\n", []string{"go", "run", "main.go"},
		},
		"python": {"def secret_for", "main.py", "import base64, hmac, sys\n", "\nprint(secret_for(*sys.argv[1:]), end=\"\")\n", []string{"python3", "main.py"}},
		"js": {
			"// The secret of the tenant", "main.mjs", "import { createHmac } from \"node:crypto\";\n",
			"\nprocess.stdout.write(secretFor(...process.argv.slice(2)));\n", []string{"node", "main.mjs"},
		},
	} {
		t.Run(language, func(t *testing.T) {
			_, shown, found := strings.Cut(string(guide), "\n```"+language+"\n"+c.marker)
			shown, _, ended := strings.Cut(shown, "\n```\n")
			if !found || !ended {
				t.Fatalf("docs/webhooks.md does not show how to derive a secret in %s", language)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.before+c.marker+shown+c.after), 0o600); err != nil {
				t.Fatal(err)
			}
			program := testenv.Program(t, c.run[0])
			for _, scope := range [][2]string{{"acme", "invoice.send"}, {"", "mail"}, {"%C3%84rzte%20%25", "a/b:c"}} {
				run := exec.Command(program, append(c.run[1:len(c.run):len(c.run)], testSecret, scope[0], scope[1])...)
				run.Dir = dir
				out, err := run.Output()
				if err != nil {
					t.Fatal(err)
				}
				want, err := DeriveSecret(testSecret, map[string]string{"%C3%84rzte%20%25": "Ärzte %"}[scope[0]]+strings.TrimPrefix(scope[0], "%C3%84rzte%20%25"), scope[1])
				if err != nil || string(out) != want {
					t.Errorf("%q: %s, want %s, %v", scope, out, want, err)
				}
			}
		})
	}
}
