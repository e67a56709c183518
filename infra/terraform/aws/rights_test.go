package aws_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/terraformtest"
)

// roleKey begins the access keys by which the code of a role signs here; the role's name follows.
const roleKey = "ROLE-"

var credentialScope = regexp.MustCompile(`Credential=` + roleKey + `([^/]+)/[0-9]+/([a-z0-9-]+)/([a-z]+)/`)

// refuse reports whether a call of a role's code is not allowed by the policies that the role was deployed with; then the
// call is answered as AWS does.
func (c *cloud) refuse(w http.ResponseWriter, r *http.Request, body []byte) bool {
	scope := credentialScope.FindStringSubmatch(r.Header.Get("Authorization"))
	if scope == nil {
		return false // not a role's: Terraform, or the test itself
	}
	action, resource := asked(r, body, scope[3])
	if c.may(scope[1], action, resource) {
		return false
	}
	c.t.Errorf("%s may not %s on %s", scope[1], action, resource)
	w.Header().Set("X-Amzn-Errortype", "AccessDeniedException")
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(http.StatusForbidden)
	_, _ = fmt.Fprintf(w, `{"__type":"AccessDeniedException","message":"%s is not authorized to perform: %s on resource: %s"}`, scope[1], action, resource)
	return true
}

// asked is the action that IAM checks for a call, and the resource's ARN.
func asked(r *http.Request, body []byte, service string) (action, resource string) {
	var of struct {
		QueueURL string `json:"QueueUrl"`
		SecretID string `json:"SecretId"`
	}
	_ = json.Unmarshal(body, &of)
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch {
	case of.QueueURL != "":
		resource = "arn:aws:sqs:" + region + ":" + account + ":" + path.Base(of.QueueURL)
	case of.SecretID != "":
		resource = of.SecretID
	case service == "lambda":
		decoded, _ := url.PathUnescape(r.URL.EscapedPath())
		if found := invocation.FindStringSubmatch(decoded); found != nil {
			name := found[1][strings.LastIndexByte(found[1], ':')+1:]
			operation, resource = "InvokeFunction", "arn:aws:lambda:"+region+":"+account+":function:"+name
		}
	}
	return service + ":" + strings.TrimSuffix(operation, "Batch"), resource
}

// may reports whether a role's policies allow an action on a resource, and notes that the role used this right.
func (c *cloud) may(role, action, resource string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.policies[role] == nil {
		statements, err := c.policiesOf(role)
		if err != nil {
			c.t.Errorf("policies of %s: %v", role, err)
			return false
		}
		c.policies[role] = statements
	}
	holds := func(effect string) bool {
		return slices.ContainsFunc(c.policies[role], func(s statement) bool {
			return s.Effect == effect && slices.Contains(s.Action, action) && (slices.Contains(s.Resource, resource) || slices.Contains(s.Resource, "*"))
		})
	}
	if !holds("Allow") || holds("Deny") {
		return false
	}
	c.used[role+" "+action+" "+resource] = true
	return true
}

// policiesOf reads the statements of a role as they are deployed.
func (c *cloud) policiesOf(role string) (found []statement, err error) {
	var names struct {
		Names []string `xml:"ListRolePoliciesResult>PolicyNames>member"`
	}
	if err := c.query(url.Values{"Action": {"ListRolePolicies"}, "RoleName": {role}}, &names); err != nil {
		return nil, err
	}
	for _, name := range names.Names {
		var policy struct {
			Document string `xml:"GetRolePolicyResult>PolicyDocument"`
		}
		if err := c.query(url.Values{"Action": {"GetRolePolicy"}, "RoleName": {role}, "PolicyName": {name}}, &policy); err != nil {
			return nil, err
		}
		document, err := url.QueryUnescape(policy.Document)
		if err != nil {
			return nil, err
		}
		statements, err := statementsOf(document)
		if err != nil {
			return nil, err
		}
		found = append(found, statements...)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the role has none")
	}
	return found, nil
}

// query asks moto's IAM.
func (c *cloud) query(form url.Values, into any) error {
	form.Set("Version", "2010-05-08")
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.moto.String()+"/", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", signedFor("iam"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return xml.NewDecoder(res.Body).Decode(into)
}

// checkUsed asserts that each right of what was applied was used, or is listed in README.md as one whose use cannot be shown here. A
// call without its right fails the test, so that a right that was used is needed.
func (c *cloud) checkUsed(t *testing.T, state []terraformtest.Resource) {
	t.Helper()
	unshown := notShown(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range state {
		r := &state[i]
		if r.Type != "aws_iam_role_policy" {
			continue
		}
		statements, err := statementsOf(r.Values["policy"])
		if err != nil {
			t.Error(err)
		}
		role := fmt.Sprint(r.Values["role"])
		for _, s := range statements {
			for _, action := range s.Action {
				for _, resource := range s.Resource {
					if !c.used[role+" "+action+" "+resource] && s.Effect == "Allow" && !unshown[action] && !unshown[strings.TrimPrefix(role, deploymentName+"-")+" "+action] {
						t.Errorf("%s never needed %s on %s", role, action, resource)
					}
				}
			}
		}
	}
}

// notShown are the rights, some with the role they are about, that README.md lists as ones whose use cannot be shown.
func notShown(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "| right | whose | why not |")
	section, _, _ = strings.Cut(section, "\n\n")
	found := map[string]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, action := range regexp.MustCompile("`([a-z0-9-]+:[A-Za-z]+)`").FindAllStringSubmatch(cells[1], -1) {
			if whose := regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(cells[2], -1); len(whose) > 0 {
				for _, role := range whose {
					found[role[1]+" "+action[1]] = true
				}
				continue
			}
			found[action[1]] = true
		}
	}
	if len(found) == 0 {
		t.Fatal("README.md lists no rights")
	}
	return found
}
