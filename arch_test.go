package belfry_test

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// module is the path of this repository's main module.
const module = "github.com/belfry-dev/belfry/"

// cloudAdapters tie a program to one platform. Everything else is cloud-free.
var cloudAdapters = []string{"adapters/aws", "adapters/gcp"}

// importRule says which imports a part of the tree must not have. Rules look at
// the files that are built into programs; tests may import what they test with.
type importRule struct {
	name    string
	covers  func(dir string) bool
	forbids func(dir, imported string) bool // imported is "core/x" inside this module, else the full path
}

var importRules = []importRule{
	{
		name:   "core imports the standard library and itself",
		covers: func(dir string) bool { return within(dir, "core") },
		forbids: func(_, imported string) bool {
			return !standard(imported) && !within(imported, "core")
		},
	},
	{
		name:   "an adapter imports core, queueurl and its own SDK, never another adapter",
		covers: func(dir string) bool { return within(dir, "adapters") },
		forbids: func(dir, imported string) bool {
			return ours(imported) && !within(imported, "core") && !within(imported, firstTwo(dir)) && imported != "adapters/queueurl"
		},
	},
	{
		name: "a function imports core, functions/boot, functions/host and itself, and no adapter",
		covers: func(dir string) bool {
			return within(dir, "functions") && !within(dir, "functions/boot") && dir != "functions/host/node" && !entryPoint(dir)
		},
		forbids: func(dir, imported string) bool {
			shared := within(imported, "functions/boot") || imported == "functions/host"
			return within(imported, "adapters") || within(imported, "cmd") || within(imported, "client") ||
				within(imported, "functions") && !shared && !within(imported, firstTwo(dir))
		},
	},
	{
		name:    "several roles in one process import these roles, and no adapter",
		covers:  func(dir string) bool { return dir == "functions/host/node" },
		forbids: func(_, imported string) bool { return within(imported, "adapters") || within(imported, "cmd") },
	},
	{
		name:    "only the mains of functions and commands tie a cloud to a function",
		covers:  func(dir string) bool { return !entryPoint(dir) && !within(dir, "adapters") },
		forbids: func(_, imported string) bool { return isCloud(imported) },
	},
	{
		name: "what users import stays free of functions and adapters",
		covers: func(dir string) bool {
			return within(dir, "handler") || within(dir, "client") && dir != "client/belfrytx"
		},
		forbids: func(_, imported string) bool { return within(imported, "functions") || within(imported, "adapters") },
	},
	{
		name:   "submitting in a transaction needs pgx and the store's own SQL, and no more",
		covers: func(dir string) bool { return dir == "client/belfrytx" },
		forbids: func(_, imported string) bool {
			return within(imported, "functions") || within(imported, "adapters") && imported != "adapters/postgres"
		},
	},
	{
		name:   "the operator's command speaks to the API and to PostgreSQL, as anyone could",
		covers: func(dir string) bool { return within(dir, "cmd/belfry") },
		forbids: func(_, imported string) bool {
			return within(imported, "functions") && imported != "functions/boot" || within(imported, "adapters") && imported != "adapters/postgres" ||
				within(imported, "internal")
		},
	},
	{
		name:   "handler imports the standard library, core and itself",
		covers: func(dir string) bool { return within(dir, "handler") },
		forbids: func(_, imported string) bool {
			return !standard(imported) && !within(imported, "core") && !within(imported, "handler")
		},
	},
	{
		name:    "test suites are imported by tests and other test suites only",
		covers:  func(dir string) bool { return !testSuite(dir) },
		forbids: func(_, imported string) bool { return ours(imported) && testSuite(imported) },
	},
	{
		name:    "what is deployed does not link the testing package",
		covers:  func(dir string) bool { return !testSuite(dir) },
		forbids: func(_, imported string) bool { return within(imported, "testing") },
	},
	{
		name:   "servers for tests and programs for developers stay out of the product",
		covers: func(dir string) bool { return !within(dir, "internal") && !within(dir, "bench") && !testSuite(dir) },
		forbids: func(_, imported string) bool {
			return within(imported, "internal/pgserver") || within(imported, "internal/queueserver") || within(imported, "internal/queues")
		},
	},
}

func TestImports(t *testing.T) {
	for _, rule := range importRules {
		t.Run(rule.name, func(t *testing.T) {
			for _, file := range goFiles(t) {
				if file.test || !rule.covers(file.dir()) {
					continue
				}
				for _, imported := range file.imports() {
					if rule.forbids(file.dir(), imported) {
						t.Errorf("%s imports %s", file.path, imported)
					}
				}
			}
		})
	}
}

// The rules themselves: a rule that forbids nothing would pass on every tree.
func TestImportRulesForbid(t *testing.T) {
	forbidden := []struct{ dir, imported string }{
		{"core", "github.com/jackc/pgx/v5"},
		{"core/recurrence", "github.com/robfig/cron/v3"},
		{"core", "adapters/postgres"},
		{"core/storetest", "internal/testenv"},
		{"adapters/sqlite", "adapters/postgres"},
		{"adapters/aws", "functions/boot"},
		{"functions/api", "adapters/postgres"},
		{"functions/api", "functions/worker"},
		{"functions/boot", "adapters/aws"},
		{"functions/host", "adapters/aws"},
		{"functions/host", "adapters/postgres"},
		{"functions/host", "adapters/rabbit"},
		{"functions/host", "functions/api"},
		{"functions/worker", "functions/host/onaws"},
		{"functions/tick", "adapters/gcp/pubsub"},
		{"handler", "functions/boot"},
		{"handler", "go.opentelemetry.io/otel/trace"},
		{"client", "adapters/postgres"},
		{"client/belfrytx", "adapters/sqlite"},
		{"client/belfrytx", "functions/api"},
		{"cmd/belfry", "functions/api"},
		{"cmd/belfry", "adapters/sqlite"},
		{"cmd/belfry", "internal/nodetest"},
		{"functions/host/node", "adapters/postgres"},
		{"adapters/postgres", "core/storetest"},
		{"cmd/local", "belfrytest"},
		{"cmd/local", "internal/testenv"},
		{"core", "testing/synctest"},
		{"cmd/local", "internal/pgserver"},
	}
	for _, c := range forbidden {
		if !breaksARule(c.dir, c.imported) {
			t.Errorf("no rule forbids that %s imports %s", c.dir, c.imported)
		}
	}
	allowed := []struct{ dir, imported string }{
		{"core", "encoding/json"},
		{"core/storetest", "testing"},
		{"core/storetest", "core"},
		{"adapters/postgres", "github.com/jackc/pgx/v5/pgxpool"},
		{"adapters/postgres/migrate", "adapters/postgres"},
		{"functions/api", "functions/boot"},
		{"functions/tick/lambda", "adapters/aws"},
		{"functions/host/onaws", "adapters/postgres"},
		{"functions/worker", "functions/host"},
		{"functions/host/node", "functions/api"},
		{"cmd/local", "functions/worker"},
		{"handler", "log/slog"},
		{"belfrytest", "adapters/sqlite"},
		{"internal/testenv", "internal/pgserver"},
		{"client/belfrytx", "adapters/postgres"},
		{"cmd/belfry", "client"},
		{"cmd/belfry", "adapters/postgres"},
	}
	for _, c := range allowed {
		if breaksARule(c.dir, c.imported) {
			t.Errorf("a rule forbids that %s imports %s", c.dir, c.imported)
		}
	}
}

func breaksARule(dir, imported string) bool {
	return slices.ContainsFunc(importRules, func(rule importRule) bool {
		return rule.covers(dir) && rule.forbids(dir, imported)
	})
}

// within reports whether a folder or import path is the parent or below it.
func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+"/")
}

// standard reports whether an import is of the standard library: its first
// element is no host name, and it is not a folder of this module.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".") && !ours(imported)
}

// ours reports whether an import is of this module.
func ours(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return slices.Contains(topFolders, first)
}

// topFolders are the folders that hold Go packages of this module.
var topFolders = []string{
	"core", "adapters", "functions", "cmd", "client", "handler", "belfrytest", "web", "internal", "bench", "localstack", "infra",
}

// entryPoint reports whether a folder holds a main that may name a cloud, or what such mains share. internal/queues
// opens any queue for programs of developers.
func entryPoint(dir string) bool {
	hosts := []string{"lambda", "cloudrun", "workerpool", "ecs", "onaws"}
	return within(dir, "cmd") || within(dir, "functions") && slices.Contains(hosts, path.Base(dir)) || dir == "internal/queues"
}

// testSuite reports whether a folder is made for tests: storetest, queuetest, belfrytest, testenv.
func testSuite(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(name string) bool {
		return strings.HasSuffix(name, "test") || name == "testenv"
	})
}

func isCloud(imported string) bool {
	return slices.ContainsFunc(cloudAdapters, func(adapter string) bool { return within(imported, adapter) })
}

// firstTwo is "adapters/postgres" of "adapters/postgres/migrate".
func firstTwo(dir string) string {
	parts := strings.SplitN(dir, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}
