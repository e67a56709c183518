package main

import (
	"os"
	"os/exec"
	"slices"
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

// The image is built from what .dockerignore lets through.
func TestTheImageGetsAllItIsBuiltFrom(t *testing.T) {
	ignored, err := os.ReadFile("../../.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	let := strings.Split(string(ignored), "\n")
	packages := 0
	for name := range strings.FieldsSeq(string(out)) {
		dir, ours := strings.CutPrefix(name, "github.com/belfry-dev/belfry/")
		if !ours {
			continue
		}
		packages++
		if !slices.ContainsFunc(let, func(line string) bool {
			open, is := strings.CutPrefix(line, "!")
			return is && (dir == open || strings.HasPrefix(dir, open+"/"))
		}) {
			t.Errorf("%s is kept from the image's build", dir)
		}
	}
	if packages < 5 {
		t.Errorf("%d packages of ours: go list did not look at the program", packages)
	}
}
