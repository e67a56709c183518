package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// awsDeployment is the part of a deployment on AWS.
type awsDeployment struct {
	Functions map[string]string `json:"functions"` // names, by what they do
	Mappings  map[string]string `json:"mappings"`  // ids of event source mappings, by priority
	Schedule  struct {
		Group string `json:"group"`
		Name  string `json:"name"`
	} `json:"schedule"`
	TickLog    string            `json:"tick_log"`
	DeadQueues map[string]string `json:"dead_queues"` // URLs, by priority
	RoleRights roleRights        `json:"-"`
}

// roleRights are the statements that roles need, by the role's name.
type roleRights map[string][]awsStatement

// awsStatement is one statement of a policy. AWS writes single values without a list.
type awsStatement struct {
	Sid      string    `json:"Sid"`
	Effect   string    `json:"Effect"`
	Action   oneOrMore `json:"Action"`
	Resource oneOrMore `json:"Resource"`
}

// oneOrMore is a text or a list of texts.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(o))
}

func (d *deployment) checkAWS(ctx context.Context, c *cloudProgram) {
	d.checkFunctions(ctx, c)
	d.checkMappings(ctx, c)
	d.checkAWSSchedule(ctx, c)
	d.checkAWSTick(ctx, c)
	d.checkDeadQueues(ctx, c)
	d.checkRoles(ctx, c)
}

func (d *deployment) checkFunctions(ctx context.Context, c *cloudProgram) {
	well := 0
	for _, what := range slices.Sorted(maps.Keys(d.Functions)) {
		name := d.Functions[what]
		var got struct{ State, StateReason, LastUpdateStatus, LastUpdateStatusReason string }
		err := c.ask(ctx, &got, "lambda", "get-function-configuration", "--function-name", name)
		switch {
		case err != nil:
			c.failed("functions", name, err)
		case got.State != "" && got.State != "Active" && got.State != "Inactive":
			c.broken("functions", fmt.Sprintf("%s is %s: %s", name, got.State, got.StateReason), "apply again; where it stays so, AWS says why in the function's console")
		case got.LastUpdateStatus == "Failed":
			c.broken("functions", fmt.Sprintf("the last update of %s failed: %s", name, got.LastUpdateStatusReason), "apply again")
		default:
			well++
		}
	}
	if well == len(d.Functions) {
		c.ok("functions", "all %d are there and ready", well)
	}
}

func (d *deployment) checkMappings(ctx context.Context, c *cloudProgram) {
	well := 0
	for _, priority := range slices.Sorted(maps.Keys(d.Mappings)) {
		var got struct {
			State                 string
			FunctionResponseTypes []string
		}
		err := c.ask(ctx, &got, "lambda", "get-event-source-mapping", "--uuid", d.Mappings[priority])
		switch {
		case err != nil:
			c.failed("mappings", "the mapping of the "+priority+" queue", err)
		case got.State != "Enabled":
			c.broken("mappings", fmt.Sprintf("the mapping of the %s queue is %s", priority, got.State), "its jobs do not start: enable it (aws lambda update-event-source-mapping --enabled --uuid "+d.Mappings[priority]+")")
		case !slices.Contains(got.FunctionResponseTypes, "ReportBatchItemFailures"):
			c.broken("mappings", "the mapping of the "+priority+" queue does not report single failures", "one message that fails would bring its whole batch back: turn on ReportBatchItemFailures")
		default:
			well++
		}
	}
	if well == len(d.Mappings) {
		c.ok("mappings", "all %d feed their workers", well)
	}
}

func (d *deployment) checkAWSSchedule(ctx context.Context, c *cloudProgram) {
	var got struct{ State, ScheduleExpression string }
	err := c.ask(ctx, &got, "scheduler", "get-schedule", "--group-name", d.Schedule.Group, "--name", d.Schedule.Name)
	switch {
	case err != nil:
		c.failed("schedule", d.Schedule.Name, err)
	case got.State != "ENABLED":
		c.broken("schedule", d.Schedule.Name+" is "+got.State, "nothing invokes the tick: enable it")
	default:
		c.ok("schedule", "%s invokes the tick, %s", d.Schedule.Name, got.ScheduleExpression)
	}
}

func (d *deployment) checkAWSTick(ctx context.Context, c *cloudProgram) {
	var got struct {
		Events []struct{ Timestamp int64 } `json:"events"`
	}
	since := c.now.Add(-tickSilence).UnixMilli()
	err := c.ask(ctx, &got, "logs", "filter-log-events", "--log-group-name", d.TickLog, "--start-time", strconv.FormatInt(since, 10),
		"--filter-pattern", `{ $.msg = "state" || $.msg = "asleep" }`)
	newest := int64(0)
	for _, event := range got.Events {
		if event.Timestamp >= since { // an emulator may answer with older ones
			newest = max(newest, event.Timestamp)
		}
	}
	switch {
	case err != nil:
		c.failed("tick", "the log "+d.TickLog, err)
	case newest == 0:
		c.broken("tick", fmt.Sprintf("no record in %s", tickSilence), "nobody ticks: look into the log "+d.TickLog+" for errors of the tick")
	default:
		c.ok("tick", "its last record is %d s old", max(0, c.now.UnixMilli()-newest)/1000)
	}
}

func (d *deployment) checkDeadQueues(ctx context.Context, c *cloudProgram) {
	total := 0
	for _, priority := range slices.Sorted(maps.Keys(d.DeadQueues)) {
		var got struct{ Attributes map[string]string }
		if err := c.ask(ctx, &got, "sqs", "get-queue-attributes", "--queue-url", d.DeadQueues[priority], "--attribute-names", "ApproximateNumberOfMessages"); err != nil {
			c.failed("dead queues", "that of the "+priority+" queue", err)
			return
		}
		n, _ := strconv.Atoi(got.Attributes["ApproximateNumberOfMessages"])
		if total += n; n > 0 {
			c.warn("dead queues", fmt.Sprintf("%d messages of the %s queue", n, priority), "no worker could read them: look at one, then purge the queue; no job is lost with them")
		}
	}
	if total == 0 {
		c.ok("dead queues", "are empty")
	}
}

// checkRoles compares what roles may do with what they need.
func (d *deployment) checkRoles(ctx context.Context, c *cloudProgram) {
	missing := 0
	for _, role := range slices.Sorted(maps.Keys(d.RoleRights)) {
		has, err := allowed(ctx, c, role)
		if err != nil {
			c.failed("rights", "the role "+role, err)
			return
		}
		for _, need := range d.RoleRights[role] {
			for _, action := range need.Action {
				for _, resource := range need.Resource {
					if !slices.ContainsFunc(has, func(s awsStatement) bool { return s.allows(action, resource) }) {
						missing++
						c.broken("rights", fmt.Sprintf("%s may not %s on %s", role, action, resource), "apply again: somebody has changed the role")
					}
				}
			}
		}
	}
	if missing == 0 {
		c.ok("rights", "%d roles have what they need", len(d.RoleRights))
	}
}

// allowed are the statements of a role's own policies.
func allowed(ctx context.Context, c *cloudProgram, role string) ([]awsStatement, error) {
	var names struct{ PolicyNames []string }
	if err := c.ask(ctx, &names, "iam", "list-role-policies", "--role-name", role); err != nil {
		return nil, err
	}
	var all []awsStatement
	for _, name := range names.PolicyNames {
		var got struct {
			PolicyDocument struct{ Statement []awsStatement }
		}
		if err := c.ask(ctx, &got, "iam", "get-role-policy", "--role-name", role, "--policy-name", name); err != nil {
			return nil, err
		}
		all = append(all, got.PolicyDocument.Statement...)
	}
	return all, nil
}

func (s awsStatement) allows(action, resource string) bool {
	return s.Effect == "Allow" && slices.ContainsFunc(s.Action, func(pattern string) bool { return matches(pattern, action) }) &&
		slices.ContainsFunc(s.Resource, func(pattern string) bool { return matches(pattern, resource) })
}

// matches reports whether a pattern with * covers a text; a pattern covers itself.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}
