package terraform_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/belfry-dev/belfry/internal/testenv"
)

// TestScanner: the policy scanner finds nothing but what checkov.yaml leaves out with a reason, and all that is left out there
// is still found.
func TestScanner(t *testing.T) {
	settings, err := os.ReadFile("checkov.yaml")
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{} // whether it was found
	for _, found := range regexp.MustCompile(`(?m)^  - (CKV2?_[A-Z]+_[0-9]+) +# \S`).FindAllSubmatch(settings, -1) {
		left[string(found[1])] = false
	}
	var stdout []byte
	for _, module := range []string{"aws", "gcp"} {
		cmd := exec.CommandContext(t.Context(), testenv.Checkov(t, "."), "-d", module, "--framework", "terraform", "--skip-download", "--compact", "--quiet", "--soft-fail", "-o", "json")
		if stdout, err = cmd.Output(); err != nil {
			t.Fatalf("%v: %s", err, stdout)
		}
		var said struct {
			Summary struct{ Passed, ParsingErrors int }
			Results struct {
				FailedChecks []struct {
					ID       string `json:"check_id"`
					Name     string `json:"check_name"`
					Resource string
				} `json:"failed_checks"`
			}
		}
		if err := json.Unmarshal(stdout, &said); err != nil {
			t.Fatalf("%v: %s", err, stdout)
		}
		if said.Summary.Passed < 20 {
			t.Errorf("%s: %d checks passed only: %s", module, said.Summary.Passed, stdout)
		}
		for _, check := range said.Results.FailedChecks {
			if _, listed := left[check.ID]; !listed {
				t.Errorf("%s: %s: %s", check.Resource, check.ID, check.Name)
			}
			left[check.ID] = true
		}
	}
	for id, found := range left {
		if !found {
			t.Errorf("checkov.yaml leaves out %s, which is not found any more", id)
		}
	}
}
