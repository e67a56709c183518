package aws_test

import (
	"testing"

	"github.com/belfry-dev/belfry/internal/terraformtest"
)

// TestRules: `terraform test`, with a provider that is mocked: preconditions, validations, names, counts and variants.
func TestRules(t *testing.T) {
	f := terraformtest.Copy(t, ".", ".", "hashicorp/aws")
	f.Init(t)
	t.Log(f.Run(t, "test"))
}

// TestValid: the code is formatted as Terraform formats it, and the module and its examples are valid.
func TestValid(t *testing.T) {
	for _, dir := range []string{".", "examples/minimal", "examples/complete"} {
		f := terraformtest.Copy(t, ".", dir, "hashicorp/aws")
		if out, err := f.Try(t.Context(), "fmt", "-check", "-diff", "-recursive"); err != nil {
			t.Errorf("%s: not formatted (terraform fmt -recursive): %s", dir, out)
		}
		f.Init(t)
		f.Run(t, "validate")
	}
}
