package aws_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// deploymentName is the name that the tests deploy both examples by: it begins the name of all that is made.
const deploymentName = "belfry"

// listing is a call that lists what is there of one kind.
type listing struct {
	service, call string
	sometimes     bool // not every deployment has one
}

// listings are of what costs money or holds a name. A call is an action of the query protocol with its
// parameters, a target of the JSON protocol, or a path. What is shown for a while after it is gone is left out, such as NAT gateways,
// whose addresses and subnets are listed.
var listings = []listing{
	{service: "ec2", call: "DescribeVpcs"}, {service: "ec2", call: "DescribeSubnets"}, {service: "ec2", call: "DescribeSecurityGroups"},
	{service: "ec2", call: "DescribeAddresses", sometimes: true},
	{service: "ec2", call: "DescribeInternetGateways", sometimes: true}, {service: "ec2", call: "DescribeEgressOnlyInternetGateways", sometimes: true},
	{service: "ec2", call: "DescribeVpcEndpoints", sometimes: true},
	{service: "iam", call: "ListRoles"}, {service: "sns", call: "ListTopics"}, {service: "sqs", call: "AmazonSQS.ListQueues"},
	{service: "rds", call: "DescribeDBInstances"}, {service: "rds", call: "DescribeDBSubnetGroups"},
	{service: "rds", call: "DescribeDBClusters", sometimes: true}, {service: "rds", call: "DescribeDBSnapshots&SnapshotType=manual", sometimes: true},
	{service: "rds", call: "DescribeDBClusterSnapshots&SnapshotType=manual", sometimes: true},
	{service: "monitoring", call: "DescribeAlarms"}, {service: "monitoring", call: "ListDashboards"},
	{service: "logs", call: "Logs_20140328.DescribeLogGroups"}, {service: "secretsmanager", call: "secretsmanager.ListSecrets"},
	{service: "ecs", call: "AmazonEC2ContainerServiceV20141113.ListTaskDefinitions", sometimes: true}, {service: "budgets", call: "AWSBudgetServiceGateway.DescribeBudgets"},
	{service: "scheduler", call: "/schedules"}, {service: "scheduler", call: "/schedule-groups"}, {service: "apigateway", call: "/v2/apis"},
	{service: "lambda", call: "/2015-03-31/functions"},
}

// list calls moto itself, which does not look at signatures but at what they are for.
func (c *cloud) list(t *testing.T, l listing) string {
	t.Helper()
	address, method, body, target := c.moto.String()+"/", http.MethodPost, "", ""
	contentType := "application/x-www-form-urlencoded"
	switch {
	case strings.HasPrefix(l.call, "/"):
		address, method = c.moto.String()+l.call, http.MethodGet
	case strings.Contains(l.call, "."):
		body, target, contentType = `{"AccountId":"`+account+`"}`, l.call, "application/x-amz-json-1.1"
	default:
		body = "Action=" + l.call + "&Version=" + map[string]string{"ec2": "2016-11-15", "iam": "2010-05-08", "rds": "2014-10-31"}[l.service]
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", signedFor(l.service))
	r.Header.Set("Content-Type", contentType)
	if target != "" {
		r.Header.Set("X-Amz-Target", target)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d %v %s", l.service, l.call, res.StatusCode, err, said)
	}
	return string(said)
}

// signedFor is what tells moto which service a call is for.
func signedFor(service string) string {
	return "AWS4-HMAC-SHA256 Credential=test/20260101/" + region + "/" + service + "/aws4_request, SignedHeaders=host, Signature=0"
}

// allListed asserts that the listings find what was deployed: one that lists nothing would find nothing left.
func (c *cloud) allListed(t *testing.T) {
	t.Helper()
	for _, l := range listings {
		if said := c.list(t, l); !l.sometimes && !strings.Contains(said, deploymentName) {
			t.Errorf("%s %s does not list what was deployed: %s", l.service, l.call, said)
		}
	}
}

// nothingLeft asserts that what was deployed is gone.
func (c *cloud) nothingLeft(t *testing.T) {
	t.Helper()
	for _, l := range listings {
		if said := c.list(t, l); strings.Contains(said, deploymentName) {
			t.Errorf("%s %s: something is left: %s", l.service, l.call, said)
		}
	}
}
