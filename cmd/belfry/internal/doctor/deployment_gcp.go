package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// gcpDeployment is the part of a deployment on Google Cloud.
type gcpDeployment struct {
	Project           string            `json:"project"`
	Services          map[string]string `json:"services"` // names, by what they do
	SchedulerJobs     []string          `json:"scheduler_jobs"`
	Subscriptions     map[string]string `json:"subscriptions"`      // names, by priority
	DeadSubscriptions map[string]string `json:"dead_subscriptions"` // names, by priority
	Database          string            `json:"database"`           // the instance of Cloud SQL that was made; "" where none was
	Bindings          []gcpBinding      `json:"-"`
}

// gcpBinding is a role that an account needs on something.
type gcpBinding struct {
	On     string `json:"on"` // topic, subscription, service, secret or project
	Name   string `json:"name"`
	Role   string `json:"role"`
	Member string `json:"member"`
}

func (d *deployment) checkGCP(ctx context.Context, c *cloudProgram) {
	d.checkServices(ctx, c)
	d.checkSchedulerJobs(ctx, c)
	d.checkGCPTick(ctx, c)
	d.checkSubscriptions(ctx, c)
	d.checkCloudSQL(ctx, c)
	d.checkBindings(ctx, c)
}

func (d *deployment) checkServices(ctx context.Context, c *cloudProgram) {
	well := 0
	for _, what := range slices.Sorted(maps.Keys(d.Services)) {
		name := d.Services[what]
		var got struct {
			Status struct {
				Conditions []struct{ Type, Status, Message string } `json:"conditions"`
			} `json:"status"`
		}
		if err := c.ask(ctx, &got, "run", "services", "describe", name, "--region", d.Region); err != nil {
			c.failed("services", name, err)
			continue
		}
		ready, message := false, "it says nothing of itself"
		for _, condition := range got.Status.Conditions {
			if condition.Type == "Ready" {
				ready, message = condition.Status == "True", condition.Message
			}
		}
		if ready {
			well++
		} else {
			c.broken("services", name+" is not ready: "+message, "look into its log; a revision that does not start leaves the one before at work")
		}
	}
	if well == len(d.Services) {
		c.ok("services", "all %d are ready", well)
	}
}

func (d *deployment) checkSchedulerJobs(ctx context.Context, c *cloudProgram) {
	well := 0
	for _, name := range d.SchedulerJobs {
		var got struct{ State, Schedule string }
		err := c.ask(ctx, &got, "scheduler", "jobs", "describe", name, "--location", d.Region)
		switch {
		case err != nil:
			c.failed("schedule", name, err)
		case got.State != "ENABLED":
			c.broken("schedule", name+" is "+got.State, "the tick is called less often, or not at all: gcloud scheduler jobs resume "+name+" --location "+d.Region)
		default:
			well++
		}
	}
	if well == len(d.SchedulerJobs) {
		c.ok("schedule", "all %d jobs call the tick", well)
	}
}

func (d *deployment) checkGCPTick(ctx context.Context, c *cloudProgram) {
	var got []struct {
		Timestamp time.Time `json:"timestamp"`
	}
	filter := fmt.Sprintf(`resource.type="cloud_run_revision" resource.labels.service_name=%q jsonPayload.message=("state" OR "asleep")`, d.Services["tick"])
	err := c.ask(ctx, &got, "logging", "read", filter, "--limit", "1", "--freshness", "5m")
	switch {
	case err != nil:
		c.failed("tick", "its log", err)
	case len(got) == 0:
		c.broken("tick", fmt.Sprintf("no record in %s", tickSilence), "nobody ticks: look into the log of "+d.Services["tick"])
	default:
		c.ok("tick", "its last record is %d s old", int(max(0, c.now.Sub(got[0].Timestamp)).Seconds()))
	}
}

func (d *deployment) checkSubscriptions(ctx context.Context, c *cloudProgram) {
	well := 0
	for _, priority := range slices.Sorted(maps.Keys(d.Subscriptions)) {
		name := d.Subscriptions[priority]
		var got struct {
			State            string    `json:"state"`
			DeadLetterPolicy *struct{} `json:"deadLetterPolicy"`
		}
		err := c.ask(ctx, &got, "pubsub", "subscriptions", "describe", name)
		switch {
		case err != nil:
			c.failed("queues", name, err)
		case got.State != "" && got.State != "ACTIVE":
			c.broken("queues", name+" is "+got.State, "Pub/Sub gives nothing out from it: apply again")
		case got.DeadLetterPolicy == nil:
			c.broken("queues", name+" has no dead letters", "a message that no worker can read would come again until it expires: apply again")
		default:
			well++
		}
	}
	if well == len(d.Subscriptions) {
		c.ok("queues", "all %d are active and have dead letters", well)
	}
	dead := 0
	for _, priority := range slices.Sorted(maps.Keys(d.DeadSubscriptions)) {
		var got []struct{}
		if err := c.ask(ctx, &got, "pubsub", "subscriptions", "pull", d.DeadSubscriptions[priority], "--limit", "1"); err != nil {
			c.failed("dead letters", d.DeadSubscriptions[priority], err)
			return
		}
		if dead += len(got); len(got) > 0 {
			c.warn("dead letters", "there are messages of the "+priority+" queue", "no worker could read them: look at one, then seek the subscription to now; no job is lost with them")
		}
	}
	if dead == 0 {
		c.ok("dead letters", "of the queues: none")
	}
}

func (d *deployment) checkCloudSQL(ctx context.Context, c *cloudProgram) {
	if d.Database == "" {
		c.leftOut("instance", "the database was not made with the module")
		return
	}
	var got struct {
		State    string `json:"state"`
		Settings struct {
			ActivationPolicy    string `json:"activationPolicy"`
			BackupConfiguration struct {
				Enabled bool `json:"enabled"`
			} `json:"backupConfiguration"`
		} `json:"settings"`
	}
	err := c.ask(ctx, &got, "sql", "instances", "describe", d.Database)
	switch {
	case err != nil:
		c.failed("instance", d.Database, err)
	case got.State != "RUNNABLE" || got.Settings.ActivationPolicy == "NEVER":
		c.broken("instance", fmt.Sprintf("%s is %s, activation %s", d.Database, got.State, got.Settings.ActivationPolicy), "start it: gcloud sql instances patch "+d.Database+" --activation-policy ALWAYS")
	case !got.Settings.BackupConfiguration.Enabled:
		c.warn("instance", d.Database+" makes no backups", "apply again: somebody has switched them off")
	default:
		c.ok("instance", "%s runs and makes backups", d.Database)
	}
}

// policyOf is the question for who may do what on something.
func (d *deployment) policyOf(b gcpBinding) []string {
	switch b.On {
	case "topic":
		return []string{"pubsub", "topics", "get-iam-policy", b.Name}
	case "subscription":
		return []string{"pubsub", "subscriptions", "get-iam-policy", b.Name}
	case "service":
		return []string{"run", "services", "get-iam-policy", b.Name, "--region", d.Region}
	case "secret":
		return []string{"secrets", "get-iam-policy", b.Name}
	}
	return []string{"projects", "get-iam-policy", b.Name}
}

// checkBindings compares who may do what with who needs to.
func (d *deployment) checkBindings(ctx context.Context, c *cloudProgram) {
	type policy struct {
		Bindings []struct {
			Role    string   `json:"role"`
			Members []string `json:"members"`
		} `json:"bindings"`
	}
	known, missing := map[string]policy{}, 0
	for _, need := range d.Bindings {
		question := d.policyOf(need)
		key := strings.Join(question, " ")
		if _, asked := known[key]; !asked {
			var got policy
			if err := c.ask(ctx, &got, question...); err != nil {
				c.failed("rights", need.On+" "+need.Name, err)
				return
			}
			known[key] = got
		}
		has := false
		for _, binding := range known[key].Bindings {
			has = has || binding.Role == need.Role && slices.Contains(binding.Members, need.Member)
		}
		if !has {
			missing++
			c.broken("rights", fmt.Sprintf("%s has not %s on the %s %s", need.Member, need.Role, need.On, need.Name), "apply again: somebody has changed it")
		}
	}
	if missing == 0 {
		c.ok("rights", "all %d are there", len(d.Bindings))
	}
}
