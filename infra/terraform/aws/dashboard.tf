locals {
  widgets = concat([
    { title = "Oldest due job, s", metrics = [for p in ["Critical", "Default", "Bulk"] : [local.namespace, "OldestDue${p}", { stat = "Maximum", label = lower(p) }]] },
    { title = "Due, dead letters, stuck, alerts", metrics = [for m in ["DueJobs", "DeadLetters", "StuckJobs", "OpenAlerts"] : [local.namespace, m, { stat = "Maximum" }]] },
    { title = "Ticks a minute", metrics = [[local.namespace, "Ticks", { stat = "Sum" }]] },
    { title = "Invocations a minute", metrics = [for name in values(local.function_names) : ["AWS/Lambda", "Invocations", "FunctionName", name, { stat = "Sum" }]] },
    { title = "Errors and throttles", metrics = concat([for name in values(local.function_names) : ["AWS/Lambda", "Errors", "FunctionName", name, { stat = "Sum" }]], [for name in values(local.function_names) : ["AWS/Lambda", "Throttles", "FunctionName", name, { stat = "Sum" }]]) },
    { title = "Duration, p99, ms", metrics = [for name in values(local.function_names) : ["AWS/Lambda", "Duration", "FunctionName", name, { stat = "p99" }]] },
    { title = "Concurrency", metrics = [for name in values(local.function_names) : ["AWS/Lambda", "ConcurrentExecutions", "FunctionName", name, { stat = "Maximum" }]] },
    ], [for w in [
      { title = "Messages waiting", metrics = [for p in local.priorities : ["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", "${var.name}-${p}", { stat = "Maximum" }]] },
      { title = "Age of the oldest message, s", metrics = [for p in local.priorities : ["AWS/SQS", "ApproximateAgeOfOldestMessage", "QueueName", "${var.name}-${p}", { stat = "Maximum" }]] },
      { title = "Messages nobody could read", metrics = [for p in local.priorities : ["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", "${var.name}-${p}-dead", { stat = "Maximum" }]] },
      ] : w if length(local.priorities) > 0], [for w in [
      { title = "Database: connections", metrics = [for k, v in local.database_dimension : ["AWS/RDS", "DatabaseConnections", k, v, { stat = "Maximum" }]] },
      { title = "Database: CPU, %", metrics = [for k, v in local.database_dimension : ["AWS/RDS", "CPUUtilization", k, v, { stat = "Average" }]] },
      { title = local.is_aurora ? "Database: ACUs" : "Database: free storage, bytes", metrics = [for k, v in local.database_dimension : ["AWS/RDS", local.is_aurora ? "ServerlessDatabaseCapacity" : "FreeStorageSpace", k, v, { stat = "Minimum" }]] },
  ] : w if local.managed])
}

resource "aws_cloudwatch_dashboard" "this" {
  count          = var.dashboard ? 1 : 0
  dashboard_name = var.name
  dashboard_body = jsonencode({
    widgets = [for i, w in local.widgets : {
      type       = "metric", x = (i % 3) * 8, y = floor(i / 3) * 6, width = 8, height = 6
      properties = { title = w.title, region = local.region, view = "timeSeries", period = 60, metrics = w.metrics }
    }]
  })
}
