package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

// deployment is the output of that name of the Terraform modules: what there is to look at.
type deployment struct {
	Cloud  string `json:"cloud"` // aws or gcp
	Region string `json:"region"`

	awsDeployment
	gcpDeployment
	Rights json.RawMessage `json:"rights"` // of roles on AWS, bindings on Google Cloud
}

const (
	cloudTimeout = 30 * time.Second // of one question to a cloud
	tickSilence  = 5 * time.Minute  // without a record of the tick: nobody ticks
)

// readDeployment reads what `terraform output -json` printed, from a file or, with "-", from standard input.
func readDeployment(name string, in io.Reader) (*deployment, error) {
	var text []byte
	var err error
	if name == "-" {
		text, err = io.ReadAll(in)
	} else {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, console.FileReason(err))
	}
	if text, err = console.PlainText(text); err != nil {
		return nil, err
	}
	var outputs struct {
		Deployment *struct {
			Value *deployment `json:"value"`
		} `json:"deployment"`
		Belfry *struct {
			Value struct {
				Deployment *deployment `json:"deployment"`
			} `json:"value"`
		} `json:"belfry"`
	}
	if err := json.Unmarshal(text, &outputs); err != nil {
		return nil, errors.New("is not what `terraform output -json` prints")
	}
	var d *deployment
	switch {
	case outputs.Deployment != nil:
		d = outputs.Deployment.Value
	case outputs.Belfry != nil: // an example that gives the whole module as one output
		d = outputs.Belfry.Value.Deployment
	}
	if d == nil {
		return nil, errors.New("has no output named deployment: add one whose value is module.NAME.deployment")
	}
	switch d.Cloud {
	case "aws":
		err = json.Unmarshal(d.Rights, &d.RoleRights)
	case "gcp":
		err = json.Unmarshal(d.Rights, &d.Bindings)
	default:
		return nil, fmt.Errorf("the output deployment is for the cloud %q, want aws or gcp", d.Cloud)
	}
	if err != nil {
		return nil, errors.New("the rights in the output deployment cannot be read: it is another version's")
	}
	return d, nil
}

// checkDeployment looks at what is deployed, through the cloud's own command line, which has the credentials.
func checkDeployment(ctx context.Context, a *console.App, f *findings, d *deployment) {
	program := map[string]string{"aws": "aws", "gcp": "gcloud"}[d.Cloud]
	path, err := exec.LookPath(program)
	if err != nil {
		f.broken("deployment", program+" is not installed, or not on PATH", "install the cloud's command line and sign in; doctor asks through it")
		return
	}
	cloud := &cloudProgram{path: path, findings: f, now: a.Now()}
	if d.Cloud == "aws" {
		cloud.args = []string{"--region", d.Region, "--output", "json"}
		if endpoint, set := a.Env("AWS_ENDPOINT_URL"); set { // version 1 does not heed it for SQS
			cloud.args = append(cloud.args, "--endpoint-url", endpoint)
		}
		d.checkAWS(ctx, cloud)
		return
	}
	cloud.args = []string{"--project", d.Project, "--format", "json", "--quiet"}
	d.checkGCP(ctx, cloud)
}

// cloudProgram asks a cloud.
type cloudProgram struct {
	*findings
	path string
	args []string // after those of each question
	now  time.Time
}

// ask runs the program and reads its answer into the value. The error is the last line that the program printed.
func (c *cloudProgram) ask(ctx context.Context, into any, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, cloudTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.path, append(args, c.args...)...)
	cmd.Env = append(os.Environ(), "AWS_PAGER=") // the answer is not for a terminal
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
			return errors.New(last)
		}
		return err
	}
	if out.Len() == 0 {
		return nil // nothing found
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		return fmt.Errorf("the answer to %s cannot be read", strings.Join(args[:min(len(args), 2)], " "))
	}
	return nil
}

// failed tells of a question that was not answered.
func (c *cloudProgram) failed(check, about string, err error) {
	c.broken(check, about+": "+err.Error(), "it is missing, or your own credentials may not look at it")
}
