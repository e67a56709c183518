package gcp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/terraformtest"
)

// TestRules: `terraform test`, with a provider that is mocked: preconditions, validations, names, counts and variants.
func TestRules(t *testing.T) {
	f := copyModule(t, ".")
	f.Init(t)
	t.Log(f.Run(t, "test"))
}

// TestValid: the code is formatted as Terraform formats it, and the module and its examples are valid.
func TestValid(t *testing.T) {
	for _, dir := range []string{".", "examples/minimal", "examples/complete"} {
		f := copyModule(t, dir)
		if out, err := f.Try(t.Context(), "fmt", "-check", "-diff", "-recursive"); err != nil {
			t.Errorf("%s: not formatted (terraform fmt -recursive): %s", dir, out)
		}
		f.Init(t)
		f.Run(t, "validate")
	}
}

// TestPolicy: what both examples would make has no fault. The provider is mocked, as nothing stands for Google Cloud here.
func TestPolicy(t *testing.T) {
	for example, variables := range map[string]string{
		"minimal":  `images = { api = "a.example/api:v1", tick = "a.example/tick:v1", worker = "a.example/worker:v1", migrate = "a.example/migrate:v1" }`,
		"complete": "image_version = \"v1\"\n  billing_account = \"012345-6789AB-CDEF01\"",
	} {
		t.Run(example, func(t *testing.T) {
			f := copyModule(t, "examples/"+example)
			run := `mock_provider "google" {
  mock_data "google_project" {
    defaults = { number = "123456789012" }
  }
  mock_resource "google_cloud_run_v2_service" {
    defaults = { uri = "https://service.example" }
  }
  mock_resource "google_secret_manager_secret" {
    defaults = { id = "projects/my-project/secrets/s" }
  }
  mock_resource "google_monitoring_alert_policy" {
    defaults = { enabled = true }
  }
}
` + accounts() + `
variables {
  project        = "my-project"
  alert_email    = "on-call@example.org"
  run_migrations = false
  ` + variables + `
}
run "applied" {}
`
			if err := os.MkdirAll(filepath.Join(f.Dir, "tests"), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(f.Dir, "tests", "policy.tftest.hcl"), []byte(run), 0o600); err != nil {
				t.Fatal(err)
			}
			f.Init(t)
			state := f.Applied(t, "tests/policy.tftest.hcl")
			if len(state) < 50 {
				t.Fatalf("%d resources only", len(state))
			}
			for _, fault := range faults(state, projectRoles(t)) {
				t.Error(fault)
			}
			if example == "complete" {
				checkRights(t, state)
			}
		})
	}
}

// copyModule copies the module with its examples.
func copyModule(t *testing.T, dir string) *terraformtest.Folder {
	t.Helper()
	return terraformtest.Copy(t, ".", dir, "hashicorp/google", "hashicorp/random")
}

// accounts gives each service account an address of its own.
func accounts() string {
	var overrides strings.Builder
	for _, account := range []string{"api", "tick", "worker", "worker_long", "migrate", "scheduler", "push"} {
		address := account + "@my-project.iam.gserviceaccount.com"
		fmt.Fprintf(&overrides, "override_resource {\n  target = module.belfry.google_service_account.%s\n  values = {\n    email  = %q\n    member = %q\n    name   = %q\n  }\n}\n",
			account, address, "serviceAccount:"+address, "projects/my-project/serviceAccounts/"+address)
	}
	return overrides.String()
}
