package main

const (
	monthMinutes = 730 * 60
	gb           = 1 << 30
)

// What the emulators cannot count, and the module sets.
const (
	awsTickGB      = 0.25 // memory of the tick, GB
	awsAPIGB       = 0.5
	awsWorkerGB    = 0.25
	awsPollers     = 5 // pollers of an event source mapping with a maximum concurrency: they do not become fewer
	awsPollsMinute = 3 // of each poller: long polls of 20 s
	awsQueues      = 3
	awsAlarms      = 29
	awsMetrics     = 9 // that the tick's line of each minute becomes
	awsSecrets     = 3
	jobSeconds     = 0.1 // that a handler takes in this model
	platformBytes  = 350 // that Lambda itself logs of an invocation: START, END, REPORT
)

// awsIdle is what a month costs in which nothing is due.
func (m *model) awsIdle(mode string) []line {
	run := "aws idle " + mode
	invocations := m.each(run, "minutes", "tick.invocations") * monthMinutes
	seconds := m.each(run, "minutes", "tick.seconds") * monthMinutes
	bytes := m.each(run, "minutes", "log.bytes")*monthMinutes + invocations*platformBytes
	return []line{
		{"tick: Lambda", m.usd("aws.lambda.gb_second.arm64", seconds*awsTickGB) + m.usd("aws.lambda.request", invocations)},
		{"tick: EventBridge Scheduler", m.usd("aws.scheduler.invocation", monthMinutes)},
		{"SQS: polls of three event source mappings", m.usd("aws.sqs.request", awsQueues*awsPollers*awsPollsMinute*monthMinutes)},
		{"logs", m.usd("aws.logs.gb", bytes/gb)},
		{"alarms and metrics", m.usd("aws.alarm.month", awsAlarms) + m.usd("aws.metric.month", awsMetrics)},
		{"secrets", m.usd("aws.secret.month", awsSecrets)},
	}
}

// awsJobs is what so many jobs a month cost beside the idle installation, submitted a hundred at a time.
func (m *model) awsJobs(jobs float64) []line {
	const run = "aws jobs"
	api := m.each(run, "jobs", "api.invocations") * jobs
	apiSeconds := m.each(run, "jobs", "api.seconds") * jobs
	worker := m.each(run, "jobs", "worker.invocations") * jobs
	// A batch's jobs run at once: an invocation takes as long as one of them, and what was counted without any work.
	workerSeconds := m.each(run, "jobs", "worker.seconds")*jobs + worker*jobSeconds
	requests := m.each(run, "jobs", "sqs.SendMessageBatch", "sqs.SendMessage", "sqs.ReceiveMessage", "sqs.DeleteMessageBatch", "sqs.DeleteMessage", "sqs.ChangeMessageVisibilityBatch") * jobs
	bytes := m.each(run, "jobs", "log.api.bytes", "log.worker.bytes")*jobs + (api+worker)*platformBytes
	return []line{
		{"API: HTTP API", m.usd("aws.http_api.request", api)},
		{"API: Lambda", m.usd("aws.lambda.gb_second.arm64", apiSeconds*awsAPIGB) + m.usd("aws.lambda.request", api)},
		{"workers: Lambda", m.usd("aws.lambda.gb_second.arm64", workerSeconds*awsWorkerGB) + m.usd("aws.lambda.request", worker)},
		{"SQS", m.usd("aws.sqs.request", requests)},
		{"logs", m.usd("aws.logs.gb", bytes/gb)},
	}
}
