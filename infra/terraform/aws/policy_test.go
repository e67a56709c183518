package aws_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/terraformtest"
)

// statement is one of a policy. Elements that may be a text or a list are lists.
type statement struct {
	Sid, Effect                              string
	Action, Resource, NotAction, NotResource []string
	Principal                                any
	Condition                                map[string]map[string]any
}

// statementsOf reads a policy.
func statementsOf(policy any) (found []statement, err error) {
	text, _ := policy.(string)
	var document struct{ Statement []map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		return nil, fmt.Errorf("%w: %q", err, text)
	}
	for _, raw := range document.Statement {
		list := func(name string) (values []string) {
			var one string
			if json.Unmarshal(raw[name], &one) == nil && one != "" {
				return []string{one}
			}
			_ = json.Unmarshal(raw[name], &values)
			return values
		}
		s := statement{Action: list("Action"), Resource: list("Resource"), NotAction: list("NotAction"), NotResource: list("NotResource")}
		for name, into := range map[string]any{"Sid": &s.Sid, "Effect": &s.Effect, "Principal": &s.Principal, "Condition": &s.Condition} {
			if raw[name] != nil {
				if err := json.Unmarshal(raw[name], into); err != nil {
					return nil, err
				}
			}
		}
		found = append(found, s)
	}
	return found, nil
}

// faults are what a deployment may not have: each with the resource and the rule. Wide are the statements that may be about
// all resources.
func faults(state []terraformtest.Resource, wide []string) (found []string) {
	bad := func(r *terraformtest.Resource, rule string, args ...any) {
		found = append(found, r.Address+": "+fmt.Sprintf(rule, args...))
	}
	refusing := map[any]bool{} // queues and topics that refuse plain HTTP
	var roles []any
	for i := range state {
		r := &state[i]
		switch r.Type {
		case "aws_iam_role_policy", "aws_iam_policy":
			rights(r, wide, bad)
		case "aws_iam_role_policy_attachment", "aws_iam_user", "aws_iam_access_key":
			bad(r, "rights are in policies of roles, where they can be read")
		case "aws_iam_role":
			trust(r, bad)
		case "aws_sqs_queue_policy", "aws_sns_topic_policy":
			if resourcePolicy(r, bad) {
				refusing[r.Values["queue_url"]], refusing[r.Values["arn"]] = true, true
			}
		case "aws_lambda_function":
			if slices.Contains(roles, r.Values["role"]) {
				bad(r, "shares its role with another function")
			}
			roles = append(roles, r.Values["role"])
		}
		exposure(r, bad)
		alarm(r, bad)
	}
	for i := range state {
		r := &state[i]
		if r.Type == "aws_sqs_queue" && !refusing[r.Values["url"]] || r.Type == "aws_sns_topic" && !refusing[r.Values["arn"]] {
			bad(r, "takes plain HTTP")
		}
	}
	return found
}

type tell func(r *terraformtest.Resource, rule string, args ...any)

// rights holds a role's policy against the rules.
func rights(r *terraformtest.Resource, wide []string, bad tell) {
	statements, err := statementsOf(r.Values["policy"])
	if err != nil || len(statements) == 0 {
		bad(r, "no statements: %v", err)
	}
	for _, s := range statements {
		if s.Effect == "Deny" {
			continue
		}
		if len(s.NotAction)+len(s.NotResource) > 0 || len(s.Action) == 0 || len(s.Resource) == 0 {
			bad(r, "%s: says what it is not about", s.Sid)
		}
		for _, action := range s.Action {
			if strings.ContainsAny(action, "*?") {
				bad(r, "%s: the action %s has a wildcard", s.Sid, action)
			}
		}
		for _, resource := range s.Resource {
			// A log group's streams are named by what follows it.
			plain := strings.TrimSuffix(resource, ":*")
			if strings.ContainsAny(plain, "*?") && !slices.Contains(wide, s.Sid) || plain != resource && !strings.Contains(plain, ":log-group:/aws/") {
				bad(r, "%s: the resource %s has a wildcard", s.Sid, resource)
			}
		}
	}
}

// trust holds who may take a role against the rules: services, and no one else.
func trust(r *terraformtest.Resource, bad tell) {
	statements, err := statementsOf(r.Values["assume_role_policy"])
	if err != nil {
		bad(r, "%v", err)
	}
	for _, s := range statements {
		who, _ := s.Principal.(map[string]any)
		if service, ok := who["Service"].(string); len(who) != 1 || !ok || !strings.HasSuffix(service, ".amazonaws.com") {
			bad(r, "%v may take it", s.Principal)
		}
	}
}

// resourcePolicy holds a queue's or topic's policy against the rules, and reports whether it refuses plain HTTP to everyone.
func resourcePolicy(r *terraformtest.Resource, bad tell) (refuses bool) {
	statements, err := statementsOf(r.Values["policy"])
	if err != nil {
		bad(r, "%v", err)
	}
	for _, s := range statements {
		insecure := s.Condition["Bool"]["aws:SecureTransport"] == "false"
		switch {
		case s.Effect == "Deny" && s.Principal == "*" && insecure && len(s.Condition) == 1 && (slices.Contains(s.Action, "sqs:*") || slices.Contains(s.Action, "sns:Publish")):
			refuses = true
		case s.Effect == "Allow" && (s.Principal == "*" || s.Condition["StringEquals"]["aws:SourceAccount"] == nil):
			bad(r, "%s: lets in whoever comes", s.Sid)
		}
	}
	return refuses
}

// exposure holds what the public could reach against the rules.
func exposure(r *terraformtest.Resource, bad tell) {
	v := r.Values
	switch r.Type {
	case "aws_lambda_permission":
		open := v["action"] == "lambda:InvokeFunctionUrl" && v["function_url_auth_type"] == "NONE"
		if v["principal"] == "*" && !open || v["principal"] != "*" && (v["source_arn"] == nil || v["source_account"] == nil) {
			bad(r, "%v may invoke the function", v["principal"])
		}
	case "aws_vpc_security_group_ingress_rule":
		if v["cidr_ipv4"] != nil || v["cidr_ipv6"] != nil || v["prefix_list_id"] != nil || v["referenced_security_group_id"] == nil {
			bad(r, "lets in addresses, not a security group")
		}
	case "aws_security_group":
		if in, _ := v["ingress"].([]any); len(in) > 0 {
			// Rules are resources of their own, which are looked at as such; the group repeats them once they exist.
			for _, rule := range in {
				if from, _ := rule.(map[string]any); lengthOf(from["cidr_blocks"])+lengthOf(from["ipv6_cidr_blocks"]) > 0 {
					bad(r, "lets in addresses")
				}
			}
		}
	case "aws_db_instance", "aws_rds_cluster_instance":
		if v["publicly_accessible"] != false {
			bad(r, "is public")
		}
	case "aws_subnet":
		if v["map_public_ip_on_launch"] == true {
			bad(r, "gives out public addresses")
		}
	case "aws_lb", "aws_s3_bucket", "aws_instance", "aws_default_vpc":
		bad(r, "is none of what a deployment is made of")
	}
	if encrypted, known := v["storage_encrypted"]; known && strings.HasPrefix(r.Type, "aws_") && r.Type != "aws_rds_cluster_instance" && encrypted != true {
		bad(r, "is not encrypted")
	}
	if r.Type == "aws_sqs_queue" && v["sqs_managed_sse_enabled"] != true {
		bad(r, "is not encrypted")
	}
}

// alarm holds what should be noticed against the rules.
func alarm(r *terraformtest.Resource, bad tell) {
	v := r.Values
	switch r.Type {
	case "aws_cloudwatch_metric_alarm":
		if lengthOf(v["alarm_actions"]) == 0 || v["actions_enabled"] == false {
			bad(r, "tells nobody")
		}
		if v["alarm_description"] == nil || len(fmt.Sprint(v["alarm_description"])) < 20 {
			bad(r, "does not say what to do")
		}
	case "aws_budgets_budget":
		notifications, _ := v["notification"].([]any)
		for _, n := range notifications {
			if n, _ := n.(map[string]any); lengthOf(n["subscriber_sns_topic_arns"]) == 0 {
				bad(r, "tells nobody")
			}
		}
		if len(notifications) == 0 {
			bad(r, "tells nobody")
		}
	case "aws_cloudwatch_log_group":
		if days, _ := v["retention_in_days"].(float64); days == 0 {
			bad(r, "keeps logs for ever")
		}
	}
}

func lengthOf(list any) int {
	values, _ := list.([]any)
	return len(values)
}

// wideStatements are those that README.md lists as being about all resources.
func wideStatements(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "| statement | in | why |")
	section, _, _ = strings.Cut(section, "\n\n")
	for _, found := range regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\|").FindAllStringSubmatch(section, -1) {
		names = append(names, found[1])
	}
	if len(names) == 0 {
		t.Fatal("README.md lists no statements")
	}
	return names
}

// TestFaultsAreFound: each rule forbids something.
func TestFaultsAreFound(t *testing.T) {
	policy := func(text string) map[string]any { return map[string]any{"policy": `{"Statement":[` + text + `]}`} }
	for want, r := range map[string]terraformtest.Resource{
		"the action sqs:* has a wildcard": {Type: "aws_iam_role_policy", Values: policy(`{"Sid":"A","Effect":"Allow","Action":"sqs:*","Resource":"arn:x"}`)},
		"the resource * has a wildcard":   {Type: "aws_iam_role_policy", Values: policy(`{"Sid":"A","Effect":"Allow","Action":["a:B"],"Resource":["*"]}`)},
		"the resource arn:x/* has":        {Type: "aws_iam_policy", Values: policy(`{"Sid":"A","Effect":"Allow","Action":"a:B","Resource":"arn:x/*"}`)},
		"the resource arn:x:* has":        {Type: "aws_iam_policy", Values: policy(`{"Sid":"A","Effect":"Allow","Action":"a:B","Resource":"arn:x:*"}`)},
		"says what it is not about":       {Type: "aws_iam_role_policy", Values: policy(`{"Sid":"A","Effect":"Allow","NotAction":"a:B","Resource":"arn:x"}`)},
		"no statements":                   {Type: "aws_iam_role_policy", Values: map[string]any{"policy": ""}},
		"where they can be read":          {Type: "aws_iam_role_policy_attachment"},
		"may take it":                     {Type: "aws_iam_role", Values: map[string]any{"assume_role_policy": `{"Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}]}`}},
		"lets in whoever comes":           {Type: "aws_sqs_queue_policy", Values: policy(`{"Sid":"A","Effect":"Allow","Principal":"*","Action":"sqs:SendMessage","Resource":"arn:x"}`)},
		"takes plain HTTP":                {Type: "aws_sqs_queue", Values: map[string]any{"url": "u", "sqs_managed_sse_enabled": true}},
		"* may invoke the function":       {Type: "aws_lambda_permission", Values: map[string]any{"principal": "*", "action": "lambda:InvokeFunction"}},
		"x.amazonaws.com may invoke":      {Type: "aws_lambda_permission", Values: map[string]any{"principal": "x.amazonaws.com", "action": "lambda:InvokeFunction"}},
		"lets in addresses, not":          {Type: "aws_vpc_security_group_ingress_rule", Values: map[string]any{"cidr_ipv4": "0.0.0.0/0"}},
		"lets in addresses":               {Type: "aws_security_group", Values: map[string]any{"ingress": []any{map[string]any{"cidr_blocks": []any{"0.0.0.0/0"}}}}},
		"is public":                       {Type: "aws_db_instance", Values: map[string]any{"publicly_accessible": true, "storage_encrypted": true}},
		"is not encrypted":                {Type: "aws_rds_cluster", Values: map[string]any{"storage_encrypted": false}},
		"gives out public addresses":      {Type: "aws_subnet", Values: map[string]any{"map_public_ip_on_launch": true}},
		"is none of what":                 {Type: "aws_lb"},
		"tells nobody":                    {Type: "aws_cloudwatch_metric_alarm", Values: map[string]any{"alarm_description": strings.Repeat("x", 30)}},
		"does not say what to do":         {Type: "aws_cloudwatch_metric_alarm", Values: map[string]any{"alarm_actions": []any{"arn"}}},
		"keeps logs for ever":             {Type: "aws_cloudwatch_log_group", Values: map[string]any{"retention_in_days": 0.0}},
	} {
		if found := faults([]terraformtest.Resource{r}, []string{"Interfaces"}); !strings.Contains(strings.Join(found, "\n"), want) {
			t.Errorf("%s: found %q", want, found)
		}
	}
	shared := terraformtest.Resource{Type: "aws_lambda_function", Values: map[string]any{"role": "r"}}
	if found := faults([]terraformtest.Resource{shared, shared}, nil); len(found) != 1 {
		t.Errorf("two functions with one role: %q", found)
	}
	budget := terraformtest.Resource{Type: "aws_budgets_budget", Values: map[string]any{"notification": []any{map[string]any{}}}}
	if found := faults([]terraformtest.Resource{budget}, nil); len(found) != 1 {
		t.Errorf("a budget that tells nobody: %q", found)
	}
	fine := []terraformtest.Resource{
		{Type: "aws_iam_role_policy", Values: policy(`{"Sid":"Interfaces","Effect":"Allow","Action":"a:B","Resource":"*"},{"Sid":"L","Effect":"Allow","Action":"logs:Put","Resource":"arn:log-group:/aws/lambda/x:*"}`)},
		{Type: "aws_sqs_queue", Values: map[string]any{"url": "u", "sqs_managed_sse_enabled": true}},
		{Type: "aws_sqs_queue_policy", Values: map[string]any{"queue_url": "u", "policy": `{"Statement":[{"Effect":"Deny","Principal":"*","Action":"sqs:*","Resource":"arn:x","Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}`}},
	}
	if found := faults(fine, []string{"Interfaces"}); len(found) > 0 {
		t.Errorf("%q", found)
	}
}
