package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestModulesAreDescribed: each module's README.md is what its code says.
func TestModulesAreDescribed(t *testing.T) {
	modules, err := filepath.Glob(filepath.Join("..", "..", "infra", "terraform", "*", "README.md"))
	if err != nil || len(modules) == 0 {
		t.Fatalf("no modules: %v", err)
	}
	for _, module := range modules {
		dir := filepath.Dir(module)
		text, err := os.ReadFile(filepath.Join(dir, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		made, err := Document(dir, string(text))
		if err != nil {
			t.Fatal(err)
		}
		if made != string(text) {
			t.Errorf("%s: README.md is not what the code says: go run ./internal/terraformdocs", dir)
		}
	}
}

// TestBlocks: descriptions, types, defaults and rules are read as they are written; a block without a description is refused.
func TestBlocks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "variables.tf")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`variable "a" {
  description = "Say \"a\"."
  type = object({
    b = optional(string, "x")
  })
  default  = {}
  nullable = false

  validation {
    condition     = length(var.a) = 1
    error_message = "a: want one."
  }
}

variable "c" {
  description = <<-EOT
    Two
    lines.
  EOT
  type        = list(string)
}
`)
	found, err := blocks(file, "variable")
	if err != nil || len(found) != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	if a := found[0]; a.description != `Say "a".` || a.kind != "object({\n  b = optional(string, \"x\")\n})" || a.preset != "{}" || len(a.rules) != 1 || a.rules[0] != "a: want one." {
		t.Errorf("%+v", a)
	}
	if c := found[1]; c.description != "Two lines." || c.preset != "" || !strings.Contains(c.signature(), "required") {
		t.Errorf("%+v", c)
	}
	write("variable \"d\" {\n  type = string\n}\n")
	if _, err := blocks(file, "variable"); err == nil || !strings.Contains(err.Error(), `"d" has no description`) {
		t.Errorf("%v", err)
	}
}
