package genclient

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/nodetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

const (
	examples = "../../docs/examples/clients/"
	token    = "a-token-that-generated-clients-carry"
)

// wanted is what each example prints: it submits, waits, lists in pages and reads a problem.
const wanted = `submitted 3 jobs
the last one is done, its result is RESULT
listed 3 jobs on 2 pages
refused with 422: type must be 1 to 200 of the characters`

func TestGo(t *testing.T) {
	testenv.GoTool(t, "oapi-codegen", "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2")
	e := prepare(t, "go")
	if err := os.Mkdir(filepath.Join(e.dir, "belfry"), 0o700); err != nil {
		t.Fatal(err)
	}
	e.run("go", "generate")
	e.run("go", "vet")
	e.prints(e.run("go", "run", "."), "map[i:2]")
}

func TestTypeScript(t *testing.T) {
	testenv.Node(t, examples+"typescript", "openapi-fetch")
	e := prepare(t, "typescript")
	tools, err := filepath.Abs(examples + "typescript/node_modules")
	if err == nil {
		err = os.Symlink(tools, filepath.Join(e.dir, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	e.run("npm", "run", "generate")
	e.run("npm", "run", "build")
	e.prints(e.run("npm", "--silent", "start"), `{"i":2}`)
}

// example is one of the examples in a folder of its own, beside the document that the API serves.
type example struct {
	t   *testing.T
	dir string
	env []string
}

func prepare(t *testing.T, name string) *example {
	t.Helper()
	t.Setenv("BELFRY_TOKENS", token)
	address := nodetest.Start(t, "all")
	e := &example{t, t.TempDir(), append(os.Environ(), "BELFRY_URL="+address, "BELFRY_TOKEN="+token, "GOFLAGS=-mod=readonly", "GOWORK=off")}
	entries, err := os.ReadDir(examples + name)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() { // the tools of a language
			continue
		}
		text, err := os.ReadFile(filepath.Join(examples, name, entry.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(e.dir, entry.Name()), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(e.dir, "openapi.json"), served(t, address), 0o600); err != nil {
		t.Fatal(err)
	}
	return e
}

// served is the document as anyone gets it.
func served(t *testing.T, address string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s %v", answer.Status, err)
	}
	return text
}

// run runs a command of the example, which must do well, and returns what it prints.
func (e *example) run(name string, args ...string) string {
	e.t.Helper()
	cmd := exec.CommandContext(e.t.Context(), name, args...)
	cmd.Dir, cmd.Env = e.dir, e.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		e.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// prints holds what was printed against what each example prints.
func (e *example) prints(got, result string) {
	e.t.Helper()
	if want := strings.ReplaceAll(wanted, "RESULT", result); !strings.HasPrefix(got, want) {
		e.t.Errorf("it printed\n%s\nwant\n%s", got, want)
	}
}
