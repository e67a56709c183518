package aws_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/terraformtest"
)

// outputs are those of the examples.
type outputs struct {
	Belfry struct {
		AdminToken    string            `json:"admin_token_secret_arn"`
		Webhooks      string            `json:"webhook_secrets_arn"`
		MasterSecret  string            `json:"master_secret_arn"`
		QueueURLs     map[string]string `json:"queue_urls"`
		FunctionNames map[string]string `json:"function_names"`
		APIURL        string            `json:"api_url"`
		Database      struct {
			Host, ResourceID string
			Port             int
		}
	}
}

// examples, and what their tests say to them.
var examples = map[string][]string{
	"minimal":  {},
	"complete": {"-var", "deletion_protection=false", "-var", "region=" + region, "-var", "name=" + deploymentName},
}

// copyModule copies the module with its examples.
func copyModule(t *testing.T, example string) *terraformtest.Folder {
	t.Helper()
	return terraformtest.Copy(t, ".", "examples/"+example, "hashicorp/aws")
}

// TestApply: both examples apply, with the real provider and migrations that really run; a second plan shows no change; jobs
// are worked off by the functions that were deployed; destroying leaves nothing.
func TestApply(t *testing.T) {
	code := packages(t)
	for example, arguments := range examples {
		t.Run(example, func(t *testing.T) {
			t.Parallel() // for the most part Terraform waits
			f := copyModule(t, example)
			c, d := newCloud(t), newDatabase(t)
			c.code = code
			receiver := newReceiver(t)
			c.adapt = func(environment map[string]string) {
				if address := environment["BELFRY_DATABASE_URL"]; address != "" {
					environment["BELFRY_DATABASE_URL"] = d.adapt(t, address)
				}
				environment["AWS_USE_DUALSTACK_ENDPOINT"] = "false" // the SDK refuses it beside an endpoint of one's own
				environment["BELFRY_WEBHOOK_ALLOW"], environment["BELFRY_WEBHOOK_PORTS"] = receiver.allow()
			}
			c.masterSecret = d.secret(t)
			f.SetEnv(c.environment()...)
			f.Init(t)
			vars := append([]string{"-var", "code=" + c.code}, arguments...)
			f.Run(t, append([]string{"apply", "-auto-approve"}, vars...)...)
			if changes := f.Changes(t, vars...); changes != "" {
				t.Fatalf("a second plan is not empty:\n%s", changes)
			}
			var is outputs
			f.Outputs(t, &is)
			checkState(t, f.State(t), is, c)
			c.openGateway(t, is)
			c.play(t, is, func() {
				workOff(t, c, is, receiver)
				if example == "minimal" {
					firstJob(t, c, f)
				}
			})
			c.checkUsed(t, f.State(t))
			if names := d.signedIn(t.Context(), t); names != "belfry_api belfry_tick belfry_worker" {
				t.Errorf("connections are those of %s", names)
			}
			c.allListed(t)
			f.Run(t, append([]string{"destroy", "-auto-approve"}, vars...)...)
			if left := f.State(t); len(left) > 0 {
				t.Errorf("destroying leaves %v", left)
			}
			c.nothingLeft(t)
		})
	}
}

// checkState holds what was applied against what no deployment may hold.
func checkState(t *testing.T, state []terraformtest.Resource, is outputs, c *cloud) {
	t.Helper()
	for _, fault := range faults(state, wideStatements(t)) {
		t.Error(fault)
	}
	for _, secret := range []string{c.secretText(t, is.Belfry.AdminToken), c.secretText(t, is.Belfry.Webhooks), "p@ss/word"} {
		for i := range state {
			if strings.Contains(text(t, state[i].Values), secret) {
				t.Errorf("%s holds a secret", state[i].Address)
			}
		}
	}
	if u, err := url.Parse(is.Belfry.APIURL); err != nil || u.Scheme != "https" || strings.HasSuffix(is.Belfry.APIURL, "/") {
		t.Errorf("the API's URL is %s", is.Belfry.APIURL)
	}
}
