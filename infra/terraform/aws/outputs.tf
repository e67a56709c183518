output "api_url" {
  description = "URL of the API, for BELFRY_URL."
  value       = trimsuffix(var.api.front == "http_api" ? one(aws_apigatewayv2_stage.api[*].invoke_url) : one(aws_lambda_function_url.api[*].function_url), "/")
}

output "admin_token_secret_arn" {
  description = "Secret that holds the token of an admin."
  value       = aws_secretsmanager_secret.admin_token.arn
}

output "admin_token_command" {
  description = "Command that prints the token of an admin, for BELFRY_TOKEN."
  value       = "aws secretsmanager get-secret-value --region ${local.region} --secret-id ${aws_secretsmanager_secret.admin_token.arn} --query SecretString --output text"
}

output "webhook_secrets_arn" {
  description = "Secret that holds the signing secrets of webhooks, newest first; null without webhooks."
  value       = one(aws_secretsmanager_secret.webhooks[*].arn)
}

output "queue_names" {
  description = "Queue of each priority."
  value       = { for p in local.priorities : p => aws_sqs_queue.job[p].name }
}

output "queue_urls" {
  description = "URL of the queue of each priority."
  value       = { for p in local.priorities : p => aws_sqs_queue.job[p].url }
}

output "dead_queue_names" {
  description = "Dead-letter queue of each priority."
  value       = { for p in local.priorities : p => aws_sqs_queue.dead[p].name }
}

output "function_names" {
  description = "Functions, by what they do: api, tick, migrate, worker_PRIORITY."
  value = merge({ api = aws_lambda_function.api.function_name, tick = aws_lambda_function.tick.function_name, migrate = aws_lambda_function.migrate.function_name },
  { for p in local.mapped : "worker_${p}" => aws_lambda_function.worker[p].function_name })
}

output "role_names" {
  description = "Role of each function."
  value = merge({ api = aws_iam_role.api.name, tick = aws_iam_role.tick.name, migrate = aws_iam_role.migrate.name, schedule = aws_iam_role.schedule.name },
  { for p in local.mapped : "worker_${p}" => aws_iam_role.worker[p].name }, local.long == 1 ? { worker_long = aws_iam_role.worker_long[0].name } : {})
}

output "database" {
  description = "The database: what it is, its endpoint, its resource id, and how many connections it takes. Endpoint and id are null for an existing one."
  value = {
    kind            = var.database.kind
    host            = local.managed ? local.database_host : null
    port            = local.managed ? local.database_port : null
    resource_id     = local.managed ? local.database_resource_id : null
    max_connections = local.max_connections
    connections     = local.connections
  }
}

output "master_secret_arn" {
  description = "Secret of the database's master user, which RDS makes and changes; null for an existing database."
  value       = local.managed ? local.master_secret_arn : null
}

output "dashboard_url" {
  description = "URL of the dashboard; null without one."
  value       = var.dashboard ? "https://${local.region}.console.aws.amazon.com/cloudwatch/home?region=${local.region}#dashboards/dashboard/${var.name}" : null
}

output "alarm_topic_arn" {
  description = "Topic that alarms and budget tell."
  value       = local.topic_arn
}

output "alarm_names" {
  description = "All alarms."
  value       = [for a in aws_cloudwatch_metric_alarm.this : a.alarm_name]
}

output "region" {
  description = "Region of all this."
  value       = local.region
}

output "deployment" {
  description = "What `belfry doctor --deployment` looks at: names of functions and queues, and the rights that roles need."
  value = {
    cloud  = "aws"
    region = local.region
    functions = merge({ api = aws_lambda_function.api.function_name, tick = aws_lambda_function.tick.function_name, migrate = aws_lambda_function.migrate.function_name },
    { for p in local.mapped : "worker_${p}" => aws_lambda_function.worker[p].function_name })
    mappings    = { for p in local.mapped : p => aws_lambda_event_source_mapping.worker[p].uuid }
    schedule    = { group = aws_scheduler_schedule_group.this.name, name = aws_scheduler_schedule.tick.name }
    tick_log    = aws_cloudwatch_log_group.tick.name
    queues      = { for p in local.priorities : p => aws_sqs_queue.job[p].url }
    dead_queues = { for p in local.priorities : p => aws_sqs_queue.dead[p].url }
    rights = merge(
      {
        (aws_iam_role.api.name)      = jsondecode(aws_iam_role_policy.api.policy).Statement
        (aws_iam_role.tick.name)     = jsondecode(aws_iam_role_policy.tick.policy).Statement
        (aws_iam_role.schedule.name) = jsondecode(aws_iam_role_policy.schedule.policy).Statement
      },
      { for p in local.mapped : (aws_iam_role.worker[p].name) => jsondecode(aws_iam_role_policy.worker[p].policy).Statement },
    )
  }
}
