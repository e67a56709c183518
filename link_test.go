package belfry_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// clients are the packages that speak to a cloud or a broker, by whose they are. What gocloud.dev shares between all
// drivers, gRPC's status codes among it, is in every program that has a queue.
var clients = map[string][]string{
	"aws":    {module + "adapters/aws", "github.com/aws/"},
	"google": {module + "adapters/gcp", "cloud.google.com/", "google.golang.org/api/option", "google.golang.org/api/transport"},
	"rabbit": {module + "adapters/rabbit", "github.com/rabbitmq/"},
}

// linked says whose clients a program has, by the folder of its main.
func linked(main string) []string {
	switch folder := path.Base(main); {
	case folder == "lambda" || folder == "ecs":
		return []string{"aws"}
	case folder == "cloudrun" || folder == "workerpool":
		return []string{"google"}
	case main == "cmd/local/containers":
		return []string{"aws"}
	case main == "cmd/server":
		return []string{"rabbit"}
	}
	return nil
}

// TestProgramsLinkOneCloud: a program for a cloud has that cloud's client in it and no other's; a program for any
// machine has none.
func TestProgramsLinkOneCloud(t *testing.T) {
	seen := map[string]bool{}
	for main, deps := range programs(t, "./functions/...", "./cmd/...") {
		seen[main] = true
		t.Run(main, func(t *testing.T) {
			want := linked(main)
			for whose, prefixes := range clients {
				var first string
				for _, dep := range deps {
					if first == "" && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(dep, p) }) {
						first = dep
					}
				}
				switch {
				case first != "" && !slices.Contains(want, whose):
					t.Errorf("it links %s", first)
				case first == "" && slices.Contains(want, whose):
					t.Errorf("it links no client of %s, or the test does not know it", whose)
				}
			}
		})
	}
	for _, main := range []string{
		"functions/api/lambda", "functions/tick/lambda", "functions/worker/lambda", "functions/worker/ecs",
		"functions/api/cloudrun", "functions/tick/cloudrun", "functions/worker/cloudrun", "functions/worker/workerpool", "cmd/local", "cmd/belfry",
	} {
		if !seen[main] {
			t.Errorf("%s is not looked at", main)
		}
	}
}

// programs lists the mains of the patterns, by their folders, with all that they link.
func programs(t *testing.T, patterns ...string) map[string][]string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-tags", "lambda.norpc", "-json=Name,ImportPath,Deps"}, patterns...)...)
	out, err := list.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("go list: %s", failed.Stderr)
		}
		t.Fatal(err)
	}
	all := map[string][]string{}
	for docs := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Name, ImportPath string
			Deps             []string
		}
		if err := docs.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Name == "main" {
			all[strings.TrimPrefix(p.ImportPath, module)] = p.Deps
		}
	}
}
