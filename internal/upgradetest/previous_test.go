package upgradetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/internal/pgserver"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// The suites of the program before, on what this program made. A server's new databases are copies of its template, so a
// template with the new schema is what the old suites, which want an empty database and migrate it, find.
func TestPreviousProgramWorksOnThisSchema(t *testing.T) {
	server := testenv.PostgresServer(t, pgserver.Options{})
	template, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	template.Path = "/template1"
	if err := postgres.Migrate(t.Context(), template.String()); err != nil {
		t.Fatal(err)
	}
	database, err := pgserver.CreateDatabase(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	tree := unpack(t)
	for _, suite := range []struct{ name, dir, run string }{
		{"its API and engine", "./internal/nodetest", "TestOnNewerSchema"},
		{"its store on SQLite", "./adapters/sqlite", "TestOnNewerSchema"},
		{"its store on PostgreSQL", "./adapters/postgres", "TestStore$"},
	} {
		t.Run(suite.name, func(t *testing.T) {
			test := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-run", suite.run, suite.dir)
			test.Dir = tree
			test.Env = append(os.Environ(), "BELFRY_TEST_POSTGRES_URL="+server.URL(), "BELFRY_NEWER_DATABASE="+database, "BELFRY_NEWER_FILE="+newFile(t), "GOWORK=off")
			out, err := test.CombinedOutput()
			passed := bytes.Count(out, []byte("--- PASS"))
			if t.Logf("%d tests and scenarios passed", passed); err != nil || passed < 2 {
				t.Errorf("%v\n%s", err, failures(out))
			}
		})
	}
}

// newFile is a SQLite file that this program made.
func newFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "belfry.db")
	store, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// failures are the lines that say what went wrong, or all where there are none.
func failures(out []byte) string {
	var kept []string
	for line := range strings.Lines(string(out)) {
		if trimmed := strings.TrimSpace(line); !strings.HasPrefix(trimmed, "=== ") && !strings.HasPrefix(trimmed, "--- PASS") && !strings.HasPrefix(trimmed, "--- SKIP") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// unpack lays the source of the program before out in a folder of the test's, with the suites of this package in it.
func unpack(t *testing.T) (tree string) {
	t.Helper()
	tree = t.TempDir()
	file, err := os.Open(filepath.Join("testdata", "previous.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for packed := tar.NewReader(unzipped); ; {
		header, err := packed.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(packed)
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(tree, filepath.FromSlash(header.Name)), text)
	}
	for name, place := range map[string]string{"sqlite_test.go.txt": "adapters/sqlite/newer_test.go", "node_test.go.txt": "internal/nodetest/newer_test.go"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(tree, filepath.FromSlash(place)), text)
	}
	return tree
}

func put(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
