package main

// What the emulators cannot count, and the module sets.
const (
	gcpTickCPU     = 0.167
	gcpTickGiB     = 0.25
	gcpWorkerCPU   = 1.0
	gcpWorkerGiB   = 0.5
	gcpConcurrency = 10 // jobs that share an instance at once
	gcpAlerts      = 16
	gcpSecrets     = 3
	kilobyte       = 1000.0
	tib            = 1 << 40
	gib            = 1 << 30
)

func (m *model) run(cpu, memory, seconds float64) float64 {
	return m.usd("gcp.run.vcpu_second", cpu*seconds) + m.usd("gcp.run.gib_second", memory*seconds)
}

// gcpIdle is what a month costs in which nothing is due.
func (m *model) gcpIdle(mode string) []line {
	run := "gcp idle " + mode
	calls := m.each(run, "minutes", "tick.calls") * monthMinutes
	seconds := m.each(run, "minutes", "tick.seconds") * monthMinutes
	jobs := 2.0
	if mode == "economy" {
		jobs = 1
	}
	return []line{
		{"tick: Cloud Run", m.run(gcpTickCPU, gcpTickGiB, seconds) + m.usd("gcp.run.request", calls)},
		{"tick: Cloud Scheduler", m.usd("gcp.scheduler.job.month", jobs)},
		{"logs", m.usd("gcp.logs.gib", m.each(run, "minutes", "log.bytes")*monthMinutes/gib)},
		{"alerts", m.usd("gcp.alert.condition.month", gcpAlerts)},
		{"secrets", m.usd("gcp.secret.month", gcpSecrets)},
	}
}

// gcpJobs is what so many jobs a month cost beside the idle installation, submitted a hundred at a time.
func (m *model) gcpJobs(jobs float64) []line {
	const run = "gcp jobs"
	api := m.each(run, "jobs", "api.requests") * jobs
	apiSeconds := m.each(run, "jobs", "api.seconds") * jobs
	pushes := m.each(run, "jobs", "pushes") * jobs
	instances := pushes * (m.each(run, "pushes", "push.seconds") + jobSeconds) / gcpConcurrency
	return []line{
		{"API: Cloud Run", m.run(gcpWorkerCPU, gcpWorkerGiB, apiSeconds) + m.usd("gcp.run.request", api)},
		{"workers: Cloud Run", m.run(gcpWorkerCPU, gcpWorkerGiB, instances) + m.usd("gcp.run.request", pushes)},
		{"Pub/Sub", m.usd("gcp.pubsub.tib", 2*pushes*kilobyte/tib)},
		{"logs", m.usd("gcp.logs.gib", m.each(run, "jobs", "log.api.bytes", "log.worker.bytes")*jobs/gib)},
	}
}
