# The workers: a function per priority, each with a mapping of its queue. They are one program with one set of rights, but
# each may receive from its own queue only.
resource "aws_iam_role" "worker" {
  for_each             = toset(local.mapped)
  name                 = "${var.name}-worker-${each.key}"
  description          = "Worker function of ${var.name} for ${each.key} jobs"
  assume_role_policy   = local.assume_lambda
  permissions_boundary = var.permissions_boundary_arn
  tags                 = local.tags
}

resource "aws_iam_role_policy" "worker" {
  for_each = toset(local.mapped)
  name     = "worker"
  role     = aws_iam_role.worker[each.key].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(local.basic_statements["worker_${each.key}"], local.database_statements.worker, local.webhook_statements, local.wake_statements, [
      # By these the mapping receives, in the function's name.
      { Sid = "Receive", Effect = "Allow", Action = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], Resource = [aws_sqs_queue.job[each.key].arn] },
    ])
  })
}

resource "aws_cloudwatch_log_group" "worker" {
  for_each          = toset(local.mapped)
  name              = "/aws/lambda/${var.name}-worker-${each.key}"
  retention_in_days = var.log_retention_days
  tags              = local.tags
}

resource "aws_lambda_function" "worker" {
  for_each         = toset(local.mapped)
  function_name    = "${var.name}-worker-${each.key}"
  description      = "Worker of ${var.name} for ${each.key} jobs"
  role             = aws_iam_role.worker[each.key].arn
  runtime          = "provided.al2023"
  architectures    = [local.lambda_architecture]
  handler          = "bootstrap"
  filename         = local.file.worker
  s3_bucket        = var.code.s3_bucket
  s3_key           = var.code.s3_bucket == null ? null : "${var.code.s3_prefix}${local.zip.worker}"
  source_code_hash = local.code_version.worker
  memory_size      = var.workers[each.key].memory_mb
  timeout          = var.workers[each.key].timeout_seconds
  tags             = local.tags

  environment {
    variables = merge(local.common_settings, local.mode_settings, local.wake_settings, local.webhook_settings, local.bound_settings, local.database_settings.worker, {
      BELFRY_DATABASE_POOL = tostring(var.workers[each.key].pool)
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

  depends_on = [aws_iam_role_policy.worker, aws_cloudwatch_log_group.worker, aws_lambda_invocation.migrate, terraform_data.fetched]
}

# Maximum concurrency, not reserved concurrency: a throttled message would count as received, and land among the dead letters
# without ever having run.
resource "aws_lambda_event_source_mapping" "worker" {
  for_each                           = toset(local.mapped)
  event_source_arn                   = aws_sqs_queue.job[each.key].arn
  function_name                      = aws_lambda_function.worker[each.key].arn
  batch_size                         = var.workers[each.key].batch_size
  maximum_batching_window_in_seconds = var.workers[each.key].window_seconds
  function_response_types            = ["ReportBatchItemFailures"]
  tags                               = local.tags

  scaling_config {
    maximum_concurrency = var.workers[each.key].max_concurrency
  }
}
