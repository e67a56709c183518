package terraformtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/testenv"
)

// pluginsVariable holds folders in which providers lie as registry.terraform.io/…, separated as those of PATH. They are
// searched after Terraform's own places.
const pluginsVariable = "BELFRY_TEST_TERRAFORM_PLUGINS"

// Folder is a copy of Terraform code in which Terraform runs: nothing is left in the original.
type Folder struct {
	Dir     string
	program string
	env     []string
	plugins []string
}

// Copy copies the folder root, and returns the folder dir in it. The providers, such as "hashicorp/aws", are looked for on
// this machine. In the list of required servers the program is "terraform", and a provider "terraform-aws" or as it is called.
func Copy(t testing.TB, root, dir string, providers ...string) *Folder {
	t.Helper()
	f := &Folder{program: testenv.Program(t, "terraform")}
	for _, provider := range providers {
		plugins, err := providerFolder(provider)
		if err != nil {
			testenv.NotInstalled(t, "terraform-"+path.Base(provider), err)
		}
		if !slices.Contains(f.plugins, plugins) {
			f.plugins = append(f.plugins, plugins)
		}
	}
	tree := filepath.Join(t.TempDir(), "tree")
	if err := copyTree(tree, root); err != nil {
		t.Fatal(err)
	}
	f.Dir = filepath.Join(tree, dir)
	f.env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+os.DevNull, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1", "TF_DATA_DIR=", "TF_CLI_ARGS=")
	return f
}

// copyTree leaves out what Terraform keeps in folders it has run in.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && entry.Name() == ".terraform":
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, relative), 0o750)
		case strings.Contains(entry.Name(), ".tfstate") || entry.Name() == ".terraform.lock.hcl":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, relative), text, 0o600)
	})
}

// providerFolder finds the folder that holds a provider.
func providerFolder(provider string) (string, error) {
	var places []string
	if home, err := os.UserHomeDir(); err == nil {
		places = append(places, filepath.Join(home, ".terraform.d", "plugins"), filepath.Join(home, ".local", "share", "terraform", "plugins"))
	}
	places = append(places, os.Getenv("TF_PLUGIN_CACHE_DIR"), "/usr/local/share/terraform/plugins", "/usr/share/terraform/plugins")
	if more, err := filepath.Glob("/opt/*/registry.terraform.io"); err == nil {
		for _, name := range more {
			places = append(places, filepath.Dir(name))
		}
	}
	places = append(places, filepath.SplitList(os.Getenv(pluginsVariable))...)
	for _, place := range places {
		if place == "" {
			continue
		}
		found, err := filepath.Glob(filepath.Join(place, "registry.terraform.io", filepath.FromSlash(provider), "*"))
		if err == nil && len(found) > 0 {
			return place, nil
		}
	}
	return "", fmt.Errorf("no folder with registry.terraform.io/%s in %s or in Terraform's places", provider, pluginsVariable)
}

// Init initialises the folder.
func (f *Folder) Init(t testing.TB) {
	t.Helper()
	args := []string{"init"}
	for _, plugins := range f.plugins {
		args = append(args, "-plugin-dir="+plugins)
	}
	f.Run(t, args...)
}

// SetEnv sets variables of Terraform's environment.
func (f *Folder) SetEnv(pairs ...string) { f.env = append(f.env, pairs...) }

// Run runs Terraform, which must succeed, and returns its output.
func (f *Folder) Run(t testing.TB, args ...string) string {
	t.Helper()
	out, err := f.Try(t.Context(), args...)
	if err != nil {
		t.Fatalf("terraform %s: %v\n%s", args[0], err, faultsOf(out))
	}
	return out
}

// faultsOf is what Terraform says from its first error on, or all of it.
func faultsOf(out string) string {
	if at := strings.Index(out, "\nError:"); at >= 0 {
		return out[at:]
	}
	return out
}

// Try runs Terraform and returns all that it says.
func (f *Folder) Try(ctx context.Context, args ...string) (string, error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, f.program, append(args[:1:1], append([]string{"-no-color"}, args[1:]...)...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = f.Dir, f.env, &said, &said
	err := cmd.Run()
	return said.String(), err
}

// Changes reports what a plan would change: "" where it is nothing.
func (f *Folder) Changes(t testing.TB, args ...string) string {
	t.Helper()
	out, err := f.Try(t.Context(), append([]string{"plan", "-detailed-exitcode"}, args...)...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &exit) && exit.ExitCode() == 2:
		return out
	}
	t.Fatalf("terraform plan: %v\n%s", err, out)
	return ""
}

// Outputs reads the outputs.
func (f *Folder) Outputs(t testing.TB, into any) {
	t.Helper()
	var outputs map[string]struct{ Value json.RawMessage }
	if err := json.Unmarshal([]byte(f.Run(t, "output", "-json")), &outputs); err != nil {
		t.Fatal(err)
	}
	values := map[string]json.RawMessage{}
	for name, output := range outputs {
		values[name] = output.Value
	}
	text, err := json.Marshal(values)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Resource is one resource of a state or plan.
type Resource struct {
	Address string
	Mode    string
	Type    string
	Values  map[string]any
}

type module struct {
	Resources    []Resource
	ChildModules []module `json:"child_modules"`
}

func (m module) all() []Resource {
	found := m.Resources
	for _, child := range m.ChildModules {
		found = append(found, child.all()...)
	}
	return found
}

// State is what was applied, without data sources.
func (f *Folder) State(t testing.TB) []Resource {
	t.Helper()
	var state struct {
		Values struct {
			RootModule module `json:"root_module"`
		}
	}
	if err := json.Unmarshal([]byte(f.Run(t, "show", "-json")), &state); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(state.Values.RootModule.all(), func(r Resource) bool { return r.Mode != "managed" })
}

// Applied runs a file of tests by terraform test, and returns what its last run has applied, without data sources. Its providers
// may be mocks.
func (f *Folder) Applied(t testing.TB, file string) []Resource {
	t.Helper()
	out, err := f.Try(t.Context(), "test", "-json", "-verbose", "-filter="+file)
	var root *module
	var faults []string
	for line := range strings.Lines(out) {
		var said struct {
			Level     string                  `json:"@level"`
			Message   string                  `json:"@message"`
			Diagnosis struct{ Detail string } `json:"diagnostic"`
			State     struct {
				RootModule module `json:"root_module"`
			} `json:"test_state"`
		}
		if json.Unmarshal([]byte(line), &said) != nil {
			continue
		}
		if said.Level == "error" {
			faults = append(faults, said.Message+": "+said.Diagnosis.Detail)
		}
		if made := said.State.RootModule; len(made.Resources)+len(made.ChildModules) > 0 {
			root = &made
		}
	}
	if err != nil || root == nil {
		t.Fatalf("terraform test: %v\n%s", err, strings.Join(faults, "\n"))
	}
	return slices.DeleteFunc(root.all(), func(r Resource) bool { return r.Mode != "managed" })
}
