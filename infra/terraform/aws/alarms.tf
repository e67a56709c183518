# Alarms, and the metrics that some of them need: CloudWatch makes these of the record that the tick writes each minute.
locals {
  namespace = "Belfry/${var.name}"
  topic_arn = var.alarms.topic_arn != null ? var.alarms.topic_arn : one(aws_sns_topic.alarms[*].arn)

  # Field of the record, and its metric. Ten custom metrics are free in an account.
  state_fields = {
    OldestDueCritical = "oldest_due_seconds_critical"
    OldestDueDefault  = "oldest_due_seconds_default"
    OldestDueBulk     = "oldest_due_seconds_bulk"
    DueJobs           = "due"
    StuckJobs         = "stuck"
    DeadLetters       = "dead_letters"
    OpenAlerts        = "open_alerts"
    OldestSnapshot    = "oldest_snapshot_seconds"
  }

  # A record is written each period; in economy mode by each invocation.
  silent_minutes = max(5, 3 * var.tick.every_minutes)
  database_dimension = (
    local.is_rds ? { DBInstanceIdentifier = one(aws_db_instance.this[*].identifier) } :
    local.is_aurora ? { DBClusterIdentifier = one(aws_rds_cluster.this[*].cluster_identifier) } : {}
  )
  burstable = local.is_rds && local.class_kind == "t"

  alarms = merge(
    {
      tick-silent = {
        text      = "Nobody ticks: nothing that comes due is dispatched. See the tick function's log, and its invocations."
        namespace = local.namespace, metric = "Ticks", statistic = "Sum", period = 60 * local.silent_minutes, periods = 1, comparison = "LessThanThreshold", threshold = 1, missing = "breaching"
      }
      dead-letters = {
        text      = "Jobs failed for good: belfry dead-letters list shows them. The alarm ends when they are redriven, discarded or dropped."
        namespace = local.namespace, metric = "DeadLetters", period = 60, periods = 1, threshold = 1
      }
      open-alerts = {
        text      = "Alerts of Belfry are open: schedules or types without the success that they promise, types whose jobs fail."
        namespace = local.namespace, metric = "OpenAlerts", period = 60, periods = 3, threshold = 1
      }
      stuck-jobs = {
        text      = "Jobs run past their lease: their workers died, and nobody ends them."
        namespace = local.namespace, metric = "StuckJobs", period = 60, periods = 5, threshold = 1
      }
      oldest-snapshot = {
        text      = "A transaction has been open for long: it keeps dead rows, and every claim slow. Find it in pg_stat_activity."
        namespace = local.namespace, metric = "OldestSnapshot", period = 60, periods = 3, threshold = var.alarms.oldest_snapshot_seconds
      }
    },
    {
      for p in ["critical", "default", "bulk"] : "oldest-due-${p}" => {
        text      = "A ${p} job has been due for ${var.alarms.oldest_due_seconds} s and was not dispatched: too few workers, or a limit. belfry jobs explain says which."
        namespace = local.namespace, metric = "OldestDue${title(p)}", period = 60, periods = 3, threshold = var.alarms.oldest_due_seconds
      }
    },
    {
      for p in local.priorities : "dead-queue-${p}" => {
        text      = "Messages in the dead-letter queue of ${p} jobs: no worker could read them, or none reached the database. Their jobs are published again by themselves."
        namespace = "AWS/SQS", metric = "ApproximateNumberOfMessagesVisible", dimensions = { QueueName = aws_sqs_queue.dead[p].name }, period = 300, periods = 1, threshold = 1
      }
    },
    {
      # What the iterator's age is to streams.
      for p in local.priorities : "message-age-${p}" => {
        text      = "The oldest message of the ${p} queue waits for too long: its workers are throttled, fail, or are too few."
        namespace = "AWS/SQS", metric = "ApproximateAgeOfOldestMessage", dimensions = { QueueName = aws_sqs_queue.job[p].name }, period = 60, periods = 5, threshold = var.alarms.message_age_seconds
      }
    },
    {
      for f, name in local.function_names : "errors-${replace(f, "_", "-")}" => {
        text      = "The function ${name} fails: see its log."
        namespace = "AWS/Lambda", metric = "Errors", dimensions = { FunctionName = name }, statistic = "Sum", period = 60, periods = f == "migrate" ? 1 : 3, threshold = 1
      }
    },
    {
      for f, name in local.function_names : "throttles-${replace(f, "_", "-")}" => {
        text      = "The function ${name} is throttled: the account's or its own concurrency is used up."
        namespace = "AWS/Lambda", metric = "Throttles", dimensions = { FunctionName = name }, statistic = "Sum", period = 60, periods = 3, threshold = 1
      }
    },
    { for k, v in local.database_alarms : k => v if local.managed && v.use },
  )

  database_alarms = {
    database-connections = {
      use       = true
      text      = "The database's connections run out. Lower max_concurrency or pools, or take a larger database."
      namespace = "AWS/RDS", metric = "DatabaseConnections", dimensions = local.database_dimension, period = 60, periods = 3, threshold = floor(coalesce(local.max_connections, 100) * var.alarms.connections_percent / 100)
    }
    database-storage = {
      use       = local.is_rds
      text      = "The database's storage runs out, and does not grow any more. Raise max_storage_gb."
      namespace = "AWS/RDS", metric = "FreeStorageSpace", dimensions = local.database_dimension, statistic = "Minimum", period = 300, periods = 2, comparison = "LessThanThreshold", threshold = var.database.storage_gb * 1073741824 * var.alarms.free_storage_percent / 100
    }
    database-cpu-credits = {
      use       = local.burstable
      text      = "The database's CPU credits run out: soon it has a fraction of its speed, or costs more. Take a larger class."
      namespace = "AWS/RDS", metric = "CPUCreditBalance", dimensions = local.database_dimension, statistic = "Minimum", period = 300, periods = 3, comparison = "LessThanThreshold", threshold = var.alarms.cpu_credits
    }
    database-capacity = {
      use       = local.is_aurora
      text      = "The database is at its max_capacity: raise it."
      namespace = "AWS/RDS", metric = "ACUUtilization", dimensions = local.database_dimension, period = 60, periods = 15, threshold = 95
    }
  }
}

resource "aws_sns_topic" "alarms" {
  count        = var.alarms.topic_arn == null ? 1 : 0
  name         = "${var.name}-alarms"
  display_name = "Belfry ${var.name}"
  tags         = local.tags
}

resource "aws_sns_topic_policy" "alarms" {
  count = var.alarms.topic_arn == null ? 1 : 0
  arn   = aws_sns_topic.alarms[0].arn
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "AlarmsAndBudget"
        Effect    = "Allow"
        Principal = { Service = ["cloudwatch.amazonaws.com", "budgets.amazonaws.com"] }
        Action    = "sns:Publish"
        Resource  = aws_sns_topic.alarms[0].arn
        Condition = { StringEquals = { "aws:SourceAccount" = local.account } }
      },
      {
        Sid       = "OnlyTLS"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sns:Publish"
        Resource  = aws_sns_topic.alarms[0].arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })
}

resource "aws_sns_topic_subscription" "email" {
  for_each  = toset(var.alarms.emails)
  topic_arn = aws_sns_topic.alarms[0].arn
  protocol  = "email"
  endpoint  = each.key
}

resource "aws_cloudwatch_log_metric_filter" "ticks" {
  name           = "${var.name}-ticks"
  log_group_name = aws_cloudwatch_log_group.tick.name
  pattern        = "{ $.msg = \"state\" || $.msg = \"asleep\" }"

  metric_transformation {
    namespace = local.namespace
    name      = "Ticks"
    value     = "1"
    unit      = "Count"
  }
}

resource "aws_cloudwatch_log_metric_filter" "state" {
  for_each       = local.state_fields
  name           = "${var.name}-${each.value}"
  log_group_name = aws_cloudwatch_log_group.tick.name
  pattern        = "{ $.msg = \"state\" && $.${each.value} >= 0 }"

  metric_transformation {
    namespace = local.namespace
    name      = each.key
    value     = "$.${each.value}"
  }
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each            = local.alarms
  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = each.value.text
  namespace           = each.value.namespace
  metric_name         = each.value.metric
  dimensions          = try(each.value.dimensions, null)
  statistic           = try(each.value.statistic, "Maximum")
  period              = each.value.period
  evaluation_periods  = each.value.periods
  datapoints_to_alarm = each.value.periods
  comparison_operator = try(each.value.comparison, "GreaterThanOrEqualToThreshold")
  threshold           = each.value.threshold
  treat_missing_data  = try(each.value.missing, "notBreaching")
  alarm_actions       = [local.topic_arn]
  ok_actions          = [local.topic_arn]
  tags                = local.tags
}
