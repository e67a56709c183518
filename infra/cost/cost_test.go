package main

import (
	"os"
	"strings"
	"testing"
)

// The document says what prices and counts come to.
func TestDocument(t *testing.T) {
	tables, err := computed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../" + document)
	if err != nil {
		t.Fatal(err)
	}
	want, err := insert(string(text), tables)
	if err != nil {
		t.Fatal(err)
	}
	if want != string(text) {
		t.Errorf("%s is not what go run ./infra/cost -write makes of the prices and counts", document)
	}
}

// Every price is used: one that nothing is computed from goes stale unseen.
func TestPricesAreUsed(t *testing.T) {
	m, err := read(pricesText, countsText)
	if err != nil {
		t.Fatal(err)
	}
	m.tables()
	for name := range m.prices {
		if !m.used[name] {
			t.Errorf("nothing uses %s", name)
		}
	}
}

// The goals: an idle installation on AWS costs at most $15 a month beside its database, a million jobs at most $1 more.
func TestGoals(t *testing.T) {
	m, err := read(pricesText, countsText)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"idle", "rest", "economy"} {
		if idle := sum(m.awsIdle(mode)); idle > 15 || idle < 1 {
			t.Errorf("idle on AWS costs $%.2f a month in mode %s", idle, mode)
		}
	}
	if jobs := sum(m.awsJobs(1e6)); jobs > 1 || jobs < 0.05 {
		t.Errorf("a million jobs on AWS cost $%.3f", jobs)
	}
	if m.err != nil {
		t.Error(m.err)
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	for _, c := range []struct{ prices, counts, want string }{
		{`{}`, string(countsText), "prices.json has no aws.lambda.gb_second.arm64"},
		{string(pricesText), `{}`, `counts.json has no run "aws idle idle"`},
		{string(pricesText), `{"aws idle idle": {}}`, `run "aws idle idle" has no minutes`},
		{`{"a": {"usd": 1, "unit": "b", "source": "c"}}`, `{}`, "a needs usd, unit, source and read"},
		{`[`, `{}`, "prices.json: "},
	} {
		m, err := read([]byte(c.prices), []byte(c.counts))
		if err == nil {
			m.tables()
			err = m.err
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s, %.40s: %v, want %s", c.prices, c.counts, err, c.want)
		}
	}
}
