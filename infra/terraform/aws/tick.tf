# The tick: invoked each minute. While there is work it goes on for longer than that, so that the next one is there before it
# ends; once nothing is due it ends, and API and workers wake it.
resource "aws_iam_role" "tick" {
  name                 = "${var.name}-tick"
  description          = "Tick function of ${var.name}"
  assume_role_policy   = local.assume_lambda
  permissions_boundary = var.permissions_boundary_arn
  tags                 = local.tags
}

resource "aws_iam_role_policy" "tick" {
  name = "tick"
  role = aws_iam_role.tick.id
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = concat(local.basic_statements.tick, local.database_statements.tick, local.send_statements, local.alert_statements)
  })
}

resource "aws_cloudwatch_log_group" "tick" {
  name              = "/aws/lambda/${var.name}-tick"
  retention_in_days = var.log_retention_days
  tags              = local.tags
}

locals {
  # With BELFRY_ALERT_URL the tick judges a target.
  tells_alerts     = var.webhooks && contains(keys(var.settings), "BELFRY_ALERT_URL")
  alert_statements = local.tells_alerts ? local.webhook_statements : []
  alert_settings   = local.tells_alerts ? local.webhook_settings : {}
}

resource "aws_lambda_function" "tick" {
  function_name    = "${var.name}-tick"
  description      = "Scheduler of ${var.name}"
  role             = aws_iam_role.tick.arn
  runtime          = "provided.al2023"
  architectures    = [local.lambda_architecture]
  handler          = "bootstrap"
  filename         = local.file.tick
  s3_bucket        = var.code.s3_bucket
  s3_key           = var.code.s3_bucket == null ? null : "${var.code.s3_prefix}${local.zip.tick}"
  source_code_hash = local.code_version.tick
  memory_size      = var.tick.memory_mb
  timeout          = var.tick.timeout_seconds
  tags             = local.tags

  environment {
    variables = merge(local.common_settings, local.queue_settings, local.mode_settings, local.alert_settings, local.database_settings.tick, {
      BELFRY_DATABASE_POOL = "2"
    })
  }

  dynamic "vpc_config" {
    for_each = local.in_vpc ? [1] : []
    content {
      subnet_ids                  = local.subnet_ids
      security_group_ids          = local.function_security_groups
      ipv6_allowed_for_dual_stack = local.over_ipv6 || local.creates_network
    }
  }

  depends_on = [aws_iam_role_policy.tick, aws_cloudwatch_log_group.tick, aws_lambda_invocation.migrate, terraform_data.fetched]
}

# A stale invocation is of no use: the next minute's does its work. Without this Lambda would retry for six hours.
resource "aws_lambda_function_event_invoke_config" "tick" {
  function_name                = aws_lambda_function.tick.function_name
  maximum_event_age_in_seconds = 60
  maximum_retry_attempts       = 0
}

resource "aws_iam_role" "schedule" {
  name                 = "${var.name}-schedule"
  description          = "Schedule that invokes the tick of ${var.name}"
  permissions_boundary = var.permissions_boundary_arn
  tags                 = local.tags
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "scheduler.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = local.account } }
    }]
  })
}

resource "aws_iam_role_policy" "schedule" {
  name = "schedule"
  role = aws_iam_role.schedule.id
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Sid = "Tick", Effect = "Allow", Action = ["lambda:InvokeFunction"], Resource = aws_lambda_function.tick.arn }]
  })
}

resource "aws_scheduler_schedule_group" "this" {
  name = var.name
  tags = local.tags
}

resource "aws_scheduler_schedule" "tick" {
  name                = "${var.name}-tick"
  group_name          = aws_scheduler_schedule_group.this.name
  description         = "Tick of ${var.name}"
  schedule_expression = var.tick.every_minutes == 1 ? "rate(1 minute)" : "rate(${var.tick.every_minutes} minutes)"

  flexible_time_window {
    mode = "OFF"
  }

  target {
    arn      = aws_lambda_function.tick.arn
    role_arn = aws_iam_role.schedule.arn

    retry_policy {
      maximum_event_age_in_seconds = 60
      maximum_retry_attempts       = 0
    }
  }

  depends_on = [aws_iam_role_policy.schedule, aws_lambda_function_event_invoke_config.tick]
}
