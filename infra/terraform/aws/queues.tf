# A standard queue and a dead-letter queue per priority.
locals {
  visibility = { for p in local.priorities : p => coalesce(var.workers[p].visibility_seconds, 6 * var.workers[p].timeout_seconds) }
}

resource "aws_sqs_queue" "dead" {
  for_each                  = toset(local.priorities)
  name                      = "${var.name}-${each.key}-dead"
  message_retention_seconds = 1209600 # 14 days, from when the message was first sent
  sqs_managed_sse_enabled   = true
  tags                      = local.tags
}

resource "aws_sqs_queue" "job" {
  for_each                   = toset(local.priorities)
  name                       = "${var.name}-${each.key}"
  visibility_timeout_seconds = local.visibility[each.key]
  message_retention_seconds  = 345600 # 4 days: what is older was published again, or is of no worth
  receive_wait_time_seconds  = 20
  sqs_managed_sse_enabled    = true
  redrive_policy             = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead[each.key].arn, maxReceiveCount = var.workers[each.key].max_receives })
  tags                       = local.tags

  depends_on = [terraform_data.checks]
}

resource "aws_sqs_queue_policy" "tls" {
  for_each  = merge({ for p in local.priorities : p => aws_sqs_queue.job[p] }, { for p in local.priorities : "${p}-dead" => aws_sqs_queue.dead[p] })
  queue_url = each.value.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "OnlyTLS"
      Effect    = "Deny"
      Principal = "*"
      Action    = "sqs:*"
      Resource  = each.value.arn
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}
