package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// line is one item of a bill, in dollars a month.
type line struct {
	item string
	usd  float64
}

func sum(lines []line) (usd float64) {
	for _, l := range lines {
		usd += l.usd
	}
	return usd
}

// Loads that are computed: jobs a day, and a month of 730 hours.
var loads = []struct {
	name string
	jobs float64 // a month
}{{"1 million a day", 1e6 * 730 / 24}, {"50 million a day", 50e6 * 730 / 24}}

func (m *model) tables() string {
	var b strings.Builder
	m.idleTables(&b)
	m.jobTables(&b)
	m.peers(&b)
	m.countTable(&b)
	m.priceTable(&b)
	return b.String()
}

// modes of the tick, as the runs that counted them are called. Asleep is idle with ten minutes of sleep.
var modes = []string{"idle", "rest", "loop", "economy"}

func (m *model) idleTables(b *strings.Builder) {
	b.WriteString("\n## Idle, dollars a month\n\nWithout the database, whose price follows. The columns are modes of the tick: `idle` is what the modules set.\n\n")
	for _, cloud := range []struct {
		name string
		of   func(mode string) []line
	}{{"AWS", m.awsIdle}, {"Google Cloud", m.gcpIdle}} {
		fmt.Fprintf(b, "| %s | idle | idle, asleep | loop | economy |\n| --- | --- | --- | --- | --- |\n", cloud.name)
		var columns [][]line
		for _, mode := range modes {
			columns = append(columns, cloud.of(mode))
		}
		for i, first := range columns[0] {
			fmt.Fprintf(b, "| %s |", first.item)
			for _, column := range columns {
				fmt.Fprintf(b, " %.2f |", column[i].usd)
			}
			b.WriteString("\n")
		}
		b.WriteString("| **together** |")
		for _, column := range columns {
			fmt.Fprintf(b, " **%.2f** |", sum(column))
		}
		b.WriteString("\n\n")
	}
	b.WriteString("| database, the least that is made for production or trial | |\n| --- | --- |\n")
	for _, l := range []line{
		{"RDS db.t4g.micro, 20 GB", m.usd("aws.rds.t4g_micro.month", 1) + m.usd("aws.rds.gp3_gb.month", 20)},
		{"Aurora Serverless v2 at 0.5 ACU", m.usd("aws.aurora.half_acu.month", 1)},
		{"Cloud SQL db-custom-1-3840, Enterprise", m.usd("gcp.sql.custom_1_3840.month", 1)},
		{"Cloud SQL db-f1-micro (no SLA)", m.usd("gcp.sql.f1_micro.month", 1)},
	} {
		fmt.Fprintf(b, "| %s | %.2f |\n", l.item, l.usd)
	}
}

func (m *model) jobTables(b *strings.Builder) {
	fmt.Fprintf(b, "\n## Jobs, dollars a month\n\nWhat jobs add to the idle installation: submitted 100 at a time, of %.1f s each, 10 at once in a worker.\n\n", jobSeconds)
	for _, cloud := range []struct {
		name string
		of   func(jobs float64) []line
	}{{"AWS", m.awsJobs}, {"Google Cloud", m.gcpJobs}} {
		fmt.Fprintf(b, "| %s | %s | %s | a million jobs |\n| --- | --- | --- | --- |\n", cloud.name, loads[0].name, loads[1].name)
		small, large, one := cloud.of(loads[0].jobs), cloud.of(loads[1].jobs), cloud.of(1e6)
		for i := range small {
			fmt.Fprintf(b, "| %s | %.2f | %.2f | %.3f |\n", small[i].item, small[i].usd, large[i].usd, one[i].usd)
		}
		fmt.Fprintf(b, "| **together** | **%.2f** | **%.2f** | **%.3f** |\n\n", sum(small), sum(large), sum(one))
	}
}

// peers is what the same jobs cost elsewhere, free tiers left out, and the work of their handlers too.
func (m *model) peers(b *strings.Builder) {
	b.WriteString("## Beside others, dollars a month\n\nWithout free tiers. What runs the handlers is in Belfry's figures and not in the others'.\n\n")
	fmt.Fprintf(b, "| | idle | %s | %s |\n| --- | --- | --- | --- |\n", loads[0].name, loads[1].name)
	fmt.Fprintf(b, "| Belfry on AWS, without its database | %.0f | %.0f | %.0f |\n", sum(m.awsIdle("idle")),
		sum(m.awsIdle("idle"))+sum(m.awsJobs(loads[0].jobs)), sum(m.awsIdle("idle"))+sum(m.awsJobs(loads[1].jobs)))
	fmt.Fprintf(b, "| Belfry on Google Cloud, without its database | %.0f | %.0f | %.0f |\n", sum(m.gcpIdle("idle")),
		sum(m.gcpIdle("idle"))+sum(m.gcpJobs(loads[0].jobs)), sum(m.gcpIdle("idle"))+sum(m.gcpJobs(loads[1].jobs)))
	for _, p := range []struct {
		name, price string
		units       float64
		idle        string
	}{
		{"EventBridge Scheduler, one-time schedules", "peer.eventbridge_scheduler.invocation", 1, ""},
		{"Cloud Tasks", "peer.cloud_tasks.operation", 2, ""},
		{"QStash, pay as you go", "peer.qstash.message", 1, ""},
		{"Temporal Cloud", "peer.temporal.action", 3, "peer.temporal.plan.month"},
	} {
		idle := 0.0
		if p.idle != "" {
			idle = m.usd(p.idle, 1)
		}
		fmt.Fprintf(b, "| %s | %.0f | %.0f | %.0f |\n", p.name, idle,
			max(idle, m.usd(p.price, p.units*loads[0].jobs)), max(idle, m.usd(p.price, p.units*loads[1].jobs)))
	}
}

// countTable is what was counted, per minute or per job.
func (m *model) countTable(b *strings.Builder) {
	b.WriteString("\n## What was counted\n\nPer minute where nothing is due, per 1,000 jobs otherwise.\n\n| run | |\n| --- | --- |\n")
	for _, run := range slices.Sorted(maps.Keys(m.counts)) {
		counts, per, unit, scale := m.counts[run], m.counts[run]["minutes"], "a minute", 1.0
		if per == 0 {
			per, unit, scale = counts["jobs"], "per 1,000 jobs", 1000
		}
		var said []string
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			if name != "minutes" && name != "jobs" {
				said = append(said, fmt.Sprintf("%s %.4g", name, counts[name]/per*scale))
			}
		}
		fmt.Fprintf(b, "| %s, %s | %s |\n", run, unit, strings.Join(said, "; "))
	}
}

func (m *model) priceTable(b *strings.Builder) {
	b.WriteString("\n## Prices\n\n| what | dollars | each | source | read |\n| --- | --- | --- | --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(m.prices)) {
		p := m.prices[name]
		fmt.Fprintf(b, "| `%s` | %.10g | %s | %s | %s |\n", name, p.USD, p.Unit, p.Source, p.Read)
	}
}
