package gcp_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/terraformtest"
)

type report func(r *terraformtest.Resource, rule string, args ...any)

// faults lists what breaks a rule, each with its resource. Only projectRoles may be granted on the whole project.
func faults(state []terraformtest.Resource, projectRoles []string) (found []string) {
	bad := func(r *terraformtest.Resource, rule string, args ...any) {
		found = append(found, r.Address+": "+fmt.Sprintf(rule, args...))
	}
	accounts := map[any]string{} // program by the account that it runs as
	for i := range state {
		r := &state[i]
		checkGrant(r, projectRoles, bad)
		checkRun(r, accounts, bad)
		checkQueue(r, bad)
		checkData(r, bad)
		checkAlert(r, bad)
	}
	return found
}

// checkGrant checks a grant of a role.
func checkGrant(r *terraformtest.Resource, projectRoles []string, bad report) {
	role := fmt.Sprint(r.Values["role"])
	switch {
	case strings.HasSuffix(r.Type, "_iam_binding"), strings.HasSuffix(r.Type, "_iam_policy"):
		bad(r, "takes away the grants of others: use an _iam_member")
		return
	case r.Type == "google_service_account_key":
		bad(r, "is a key, which can be stolen")
		return
	case !strings.HasSuffix(r.Type, "_iam_member"):
		return
	}
	if lower := strings.ToLower(role); strings.Contains(lower, "admin") || slices.Contains([]string{"roles/owner", "roles/editor", "roles/viewer"}, lower) || !strings.HasPrefix(lower, "roles/") {
		bad(r, "the role %s is too wide", role)
	}
	if r.Type == "google_project_iam_member" && !slices.Contains(projectRoles, role) {
		bad(r, "%s on the whole project, which README.md does not list", role)
	}
	member := fmt.Sprint(r.Values["member"])
	public := strings.HasPrefix(member, "all") && (member == "allUsers" || member == "allAuthenticatedUsers")
	if public && (r.Type != "google_cloud_run_v2_service_iam_member" || role != "roles/run.invoker" || !strings.HasSuffix(fmt.Sprint(r.Values["name"]), "-api")) {
		bad(r, "is open to %s", member)
	}
}

// checkRun checks what runs: each program has an account of its own, and none gets a secret in plain text.
func checkRun(r *terraformtest.Resource, accounts map[any]string, bad report) {
	if !strings.HasPrefix(r.Type, "google_cloud_run_v2_") || strings.Contains(r.Type, "_iam_") {
		return
	}
	for template := range within(r.Values["template"]) {
		inner := template
		for job := range within(template["template"]) {
			inner = job
		}
		account := inner["service_account"]
		_, program, _ := strings.Cut(r.Address, r.Type+".")
		program, _, _ = strings.Cut(program, "[")
		if other := accounts[account]; account == nil || other != "" && other != program {
			bad(r, "shares its account with %s", other)
		}
		accounts[account] = program
		for container := range within(inner["containers"]) {
			for variable := range within(container["env"]) {
				name, value := fmt.Sprint(variable["name"]), fmt.Sprint(variable["value"])
				plain := variable["value"] != nil && value != "" && !strings.HasPrefix(value, "projects/")
				if plain && (strings.Contains(name, "SECRET") || strings.Contains(name, "TOKEN")) || regexp.MustCompile(`://[^/@:]+:[^/@]+@`).MatchString(value) {
					bad(r, "%s is a secret in plain text", name)
				}
			}
		}
	}
}

// checkQueue checks subscriptions and what calls services.
func checkQueue(r *terraformtest.Resource, bad report) {
	v := r.Values
	switch r.Type {
	case "google_pubsub_subscription":
		for policy := range within(v["expiration_policy"]) {
			if policy["ttl"] != "" {
				bad(r, "expires")
			}
		}
		if length(v["expiration_policy"]) == 0 {
			bad(r, "expires")
		}
		for push := range within(v["push_config"]) {
			if length(push["oidc_token"]) == 0 || !strings.HasPrefix(fmt.Sprint(push["push_endpoint"]), "https://") {
				bad(r, "pushes without a token, or without TLS")
			}
		}
		if dead := strings.Contains(r.Address, ".dead["); !dead && strings.Contains(r.Address, ".queue[") && length(v["dead_letter_policy"])*length(v["retry_policy"]) == 0 {
			bad(r, "has no dead letters or no retry policy")
		}
	case "google_cloud_scheduler_job":
		for target := range within(v["http_target"]) {
			if length(target["oidc_token"]) == 0 || !strings.HasPrefix(fmt.Sprint(target["uri"]), "https://") {
				bad(r, "calls without a token, or without TLS")
			}
		}
	}
}

// checkData checks the database and the secrets.
func checkData(r *terraformtest.Resource, bad report) {
	v := r.Values
	switch r.Type {
	case "google_sql_database_instance":
		for settings := range within(v["settings"]) {
			for ip := range within(settings["ip_configuration"]) {
				if length(ip["authorized_networks"]) > 0 {
					bad(r, "lets in networks")
				}
				if ip["ssl_mode"] != "TRUSTED_CLIENT_CERTIFICATE_REQUIRED" && ip["ssl_mode"] != "ENCRYPTED_ONLY" {
					bad(r, "takes connections without TLS")
				}
			}
			if length(settings["ip_configuration"]) == 0 {
				bad(r, "takes connections without TLS")
			}
			for backup := range within(settings["backup_configuration"]) {
				if backup["enabled"] != true || backup["point_in_time_recovery_enabled"] != true {
					bad(r, "has no backups")
				}
			}
			if length(settings["backup_configuration"]) == 0 {
				bad(r, "has no backups")
			}
		}
	case "google_secret_manager_secret_version":
		if data, _ := v["secret_data"].(string); data != "" {
			bad(r, "keeps its secret in the state")
		}
	case "google_sql_user":
		if password, _ := v["password"].(string); password != "" {
			bad(r, "keeps its password in the state")
		}
	}
}

// checkAlert checks that alerts and budgets notify somebody, and that alerts say what to do.
func checkAlert(r *terraformtest.Resource, bad report) {
	v := r.Values
	switch r.Type {
	case "google_monitoring_alert_policy":
		if length(v["notification_channels"]) == 0 || v["enabled"] == false {
			bad(r, "notifies nobody")
		}
		said := 0
		for documentation := range within(v["documentation"]) {
			said = len(fmt.Sprint(documentation["content"]))
		}
		if said < 20 {
			bad(r, "does not say what to do")
		}
	case "google_billing_budget":
		channels := 0
		for rule := range within(v["all_updates_rule"]) {
			channels += length(rule["monitoring_notification_channels"])
		}
		if channels == 0 || length(v["threshold_rules"]) == 0 {
			bad(r, "notifies nobody")
		}
	}
}

// within yields the blocks of a list.
func within(list any) func(func(map[string]any) bool) {
	return func(yield func(map[string]any) bool) {
		blocks, _ := list.([]any)
		for _, b := range blocks {
			if block, ok := b.(map[string]any); ok && !yield(block) {
				return
			}
		}
	}
}

func length(list any) int {
	values, _ := list.([]any)
	return len(values)
}

// projectRoles are those that README.md lists as granted on the whole project.
func projectRoles(t *testing.T) (roles []string) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "| role | granted to | why |")
	section, _, _ = strings.Cut(section, "\n\n")
	for _, found := range regexp.MustCompile("(?m)^\\| `(roles/[A-Za-z.]+)` \\|").FindAllStringSubmatch(section, -1) {
		roles = append(roles, found[1])
	}
	if len(roles) == 0 {
		t.Fatal("README.md lists no roles")
	}
	return roles
}

// checkRights checks that the roles of each account are those that README.md lists and explains.
func checkRights(t *testing.T, state []terraformtest.Resource) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "| account | roles |")
	section, _, _ = strings.Cut(section, "\n\n")
	listed, granted := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, role := range regexp.MustCompile("`(roles/[A-Za-z.]+)`").FindAllStringSubmatch(cells[2], -1) {
			listed[strings.Trim(cells[1], " `")+": "+role[1]] = true
		}
	}
	for i := range state {
		if r := &state[i]; strings.HasSuffix(r.Type, "_iam_member") {
			account, _, _ := strings.Cut(strings.TrimPrefix(fmt.Sprint(r.Values["member"]), "serviceAccount:"), "@")
			if strings.HasPrefix(account, "service-") {
				account = "Pub/Sub's agent"
			}
			granted[account+": "+fmt.Sprint(r.Values["role"])] = true
		}
	}
	for right := range granted {
		if !listed[right] {
			t.Errorf("README.md does not list %s", right)
		}
	}
	for right := range listed {
		if !granted[right] {
			t.Errorf("README.md lists %s, which is not granted", right)
		}
	}
}

// TestFaultsAreFound: each rule forbids something.
func TestFaultsAreFound(t *testing.T) {
	type values = map[string]any
	block := func(v values) []any { return []any{v} }
	alert := values{"notification_channels": []any{"c"}, "documentation": block(values{"content": strings.Repeat("x", 30)})}
	env := func(name, value string) values {
		return values{"template": block(values{"service_account": "a", "containers": block(values{"env": block(values{"name": name, "value": value})})})}
	}
	for want, r := range map[string]terraformtest.Resource{
		"takes away the grants":                 {Type: "google_project_iam_binding"},
		"is a key":                              {Type: "google_service_account_key"},
		"roles/pubsub.admin is too wide":        {Type: "google_pubsub_topic_iam_member", Values: values{"role": "roles/pubsub.admin"}},
		"roles/viewer is too wide":              {Type: "google_project_iam_member", Values: values{"role": "roles/viewer"}},
		"roles/pubsub.publisher on the whole":   {Type: "google_project_iam_member", Values: values{"role": "roles/pubsub.publisher"}},
		"is open to allUsers":                   {Type: "google_cloud_run_v2_service_iam_member", Values: values{"role": "roles/run.invoker", "member": "allUsers", "name": "x-tick"}},
		"is open to allAuthenticatedUsers":      {Type: "google_pubsub_topic_iam_member", Values: values{"role": "roles/pubsub.publisher", "member": "allAuthenticatedUsers"}},
		"BELFRY_TOKENS is a secret":             {Type: "google_cloud_run_v2_service", Values: env("BELFRY_TOKENS", "t")},
		"BELFRY_DATABASE_URL is a secret":       {Type: "google_cloud_run_v2_service", Values: env("BELFRY_DATABASE_URL", "postgres://a:b@c/d")},
		"expires":                               {Type: "google_pubsub_subscription"},
		"pushes without a token":                {Type: "google_pubsub_subscription", Values: values{"push_config": block(values{"push_endpoint": "https://x"})}},
		"has no dead letters":                   {Type: "google_pubsub_subscription", Address: `google_pubsub_subscription.queue["bulk"]`},
		"calls without a token":                 {Type: "google_cloud_scheduler_job", Values: values{"http_target": block(values{"uri": "https://x"})}},
		"lets in networks":                      {Type: "google_sql_database_instance", Values: values{"settings": block(values{"ip_configuration": block(values{"authorized_networks": []any{1}})})}},
		"takes connections without TLS":         {Type: "google_sql_database_instance", Values: values{"settings": block(values{})}},
		"has no backups":                        {Type: "google_sql_database_instance", Values: values{"settings": block(values{"backup_configuration": block(values{"enabled": true})})}},
		"keeps its secret":                      {Type: "google_secret_manager_secret_version", Values: values{"secret_data": "x"}},
		"keeps its password":                    {Type: "google_sql_user", Values: values{"password": "x"}},
		"google_billing_budget: notifies":       {Type: "google_billing_budget", Address: "google_billing_budget"},
		"google_monitoring_alert_policy: notif": {Type: "google_monitoring_alert_policy", Address: "google_monitoring_alert_policy"},
		"does not say what to do":               {Type: "google_monitoring_alert_policy", Values: values{"notification_channels": []any{"c"}}},
	} {
		if found := faults([]terraformtest.Resource{r}, []string{"roles/cloudsql.client"}); !strings.Contains(strings.Join(found, "\n"), want) {
			t.Errorf("%s: found %q", want, found)
		}
	}
	shared := []terraformtest.Resource{
		{Type: "google_cloud_run_v2_service", Address: "m.google_cloud_run_v2_service.api", Values: env("A", "b")},
		{Type: "google_cloud_run_v2_job", Address: "m.google_cloud_run_v2_job.migrate", Values: values{"template": block(values{"template": block(values{"service_account": "a"})})}},
	}
	if found := faults(shared, nil); len(found) != 1 || !strings.Contains(found[0], "shares its account with api") {
		t.Errorf("two programs with one account: %q", found)
	}
	fine := []terraformtest.Resource{
		{Type: "google_project_iam_member", Values: values{"role": "roles/cloudsql.client", "member": "serviceAccount:x"}},
		{Type: "google_cloud_run_v2_service_iam_member", Values: values{"role": "roles/run.invoker", "member": "allUsers", "name": "x-api"}},
		{Type: "google_monitoring_alert_policy", Values: alert},
		{Type: "google_cloud_run_v2_service", Values: env("BELFRY_DEPLOY_ADMIN_TOKEN_SECRET", "projects/p/secrets/s")},
	}
	if found := faults(fine, []string{"roles/cloudsql.client"}); len(found) > 0 {
		t.Errorf("%q", found)
	}
}
