package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The image is small, and what is not in it has no holes.
func TestNoCloudIsLinked(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 100 {
		t.Fatalf("%d packages: go list did not look at the program", len(packages))
	}
	for _, name := range packages {
		for _, cloud := range []string{"github.com/aws/", "cloud.google.com/go", "google.golang.org/api/transport", "google.golang.org/api/option", "github.com/belfry-dev/belfry/adapters/aws", "github.com/belfry-dev/belfry/adapters/gcp", "modernc.org/"} {
			if strings.HasPrefix(name, cloud) {
				t.Errorf("links %s", name)
			}
		}
	}
}
