package main

import (
	"os"
	"strings"
	"testing"
)

// The image built here is that of the Dockerfile.
func TestLastStageOfTheDockerfile(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	stage, err := lastStage(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"FROM scratch\n", "\nCOPY /server /server\n", "\nCOPY /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/\n", "\nUSER 65532:65532\n", "\nHEALTHCHECK ", "\nENTRYPOINT [\"/server\"]\n"} {
		if !strings.Contains(stage, line) {
			t.Errorf("lacks %q:\n%s", line, stage)
		}
	}
	if strings.Contains(stage, "go build") {
		t.Errorf("builds with Go:\n%s", stage)
	}
	for _, bad := range []string{"FROM scratch\nCOPY x /\n", "FROM a AS other\n\nFROM scratch\nCOPY --from=other /x /x\n"} {
		if stage, err := lastStage(bad); err == nil {
			t.Errorf("%q became %q", bad, stage)
		}
	}
}
