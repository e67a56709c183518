# Preconditions, names, counts and variants, with a provider that is not there: nothing is applied, nothing is asked of AWS.
mock_provider "aws" {
  mock_data "aws_caller_identity" {
    defaults = { account_id = "123456789012" }
  }
  mock_data "aws_partition" {
    defaults = { partition = "aws" }
  }
  mock_data "aws_region" {
    defaults = { id = "eu-west-1", name = "eu-west-1" }
  }
  mock_data "aws_availability_zones" {
    defaults = { names = ["eu-west-1a", "eu-west-1b", "eu-west-1c"] }
  }
}

variables {
  code = { s3_bucket = "artifacts", s3_prefix = "v1/", version = "1" }
}

run "minimal" {
  command = plan

  assert {
    condition     = length(aws_lambda_function.worker) == 3 && length(aws_sqs_queue.job) == 3 && length(aws_sqs_queue.dead) == 3 && length(aws_lambda_event_source_mapping.worker) == 3
    error_message = "a worker, a queue, dead letters and a mapping for each priority"
  }
  assert {
    condition     = length(aws_nat_gateway.this) == 0 && length(aws_eip.nat) == 0 && length(aws_subnet.public) == 0 && length(aws_vpc_endpoint.this) == 0 && length(aws_egress_only_internet_gateway.this) == 1
    error_message = "nothing in the network is paid for"
  }
  assert {
    condition     = length(aws_db_instance.this) == 1 && length(aws_rds_cluster.this) == 0 && length(aws_ecs_service.worker_long) == 0
    error_message = "an RDS instance, and nothing on ECS"
  }
  assert {
    condition     = alltrue([for f in concat([aws_lambda_function.api, aws_lambda_function.tick, aws_lambda_function.migrate], values(aws_lambda_function.worker)) : startswith(f.function_name, "belfry-") && f.runtime == "provided.al2023" && f.architectures == tolist(["arm64"]) && f.s3_key != null])
    error_message = "functions are named for the deployment, and run on arm64"
  }
  assert {
    condition     = aws_scheduler_schedule.tick.schedule_expression == "rate(1 minute)" && aws_scheduler_schedule.tick.target[0].retry_policy[0].maximum_retry_attempts == 0 && aws_scheduler_schedule.tick.target[0].retry_policy[0].maximum_event_age_in_seconds == 60
    error_message = "a tick a minute, and no stale ones"
  }
  assert {
    condition     = aws_lambda_function_event_invoke_config.tick.maximum_retry_attempts == 0 && aws_lambda_function_event_invoke_config.tick.maximum_event_age_in_seconds == 60
    error_message = "Lambda keeps no stale ticks either"
  }
  assert {
    condition     = alltrue([for p, q in aws_sqs_queue.job : q.visibility_timeout_seconds == 5400 && q.sqs_managed_sse_enabled])
    error_message = "messages are hidden for six times the timeout"
  }
  assert {
    condition     = alltrue([for m in aws_lambda_event_source_mapping.worker : m.function_response_types == toset(["ReportBatchItemFailures"]) && m.scaling_config[0].maximum_concurrency >= 2])
    error_message = "partial batch answers, and a maximum concurrency"
  }
  assert {
    condition     = aws_db_instance.this[0].storage_encrypted && aws_db_instance.this[0].deletion_protection && aws_db_instance.this[0].manage_master_user_password && aws_db_instance.this[0].iam_database_authentication_enabled && !aws_db_instance.this[0].publicly_accessible && aws_db_instance.this[0].backup_retention_period == 7 && aws_db_instance.this[0].password == null
    error_message = "the database is encrypted, protected, backed up, private, and its password is none of ours"
  }
  assert {
    condition     = aws_lambda_function.tick.environment[0].variables.BELFRY_TICK_IDLE == "1m" && !contains(keys(aws_lambda_function.tick.environment[0].variables), "BELFRY_TICK_WAKE") && !contains(keys(aws_lambda_function.tick.environment[0].variables), "BELFRY_WEBHOOK_SECRETS")
    error_message = "the tick ends when idle, wakes nobody and signs nothing"
  }
  assert {
    condition     = length(aws_lambda_invocation.migrate) == 1 && length(aws_budgets_budget.this) == 1 && length(aws_cloudwatch_dashboard.this) == 1
    error_message = "migrations run, a budget and a dashboard are there"
  }
}

run "queues" {
  command = plan
  variables {
    name    = "shop"
    workers = { critical = { timeout_seconds = 120, max_concurrency = 7 } }
  }

  assert {
    condition     = aws_sqs_queue.job["critical"].visibility_timeout_seconds == 720 && aws_sqs_queue.job["bulk"].visibility_timeout_seconds == 5400 && aws_sqs_queue.job["critical"].name == "shop-critical" && aws_sqs_queue.dead["critical"].name == "shop-critical-dead"
    error_message = "visibility is six times the function's timeout"
  }
  assert {
    condition     = aws_lambda_event_source_mapping.worker["critical"].scaling_config[0].maximum_concurrency == 7 && aws_lambda_function.api.environment[0].variables.BELFRY_MOST_TIMEOUT == "93s"
    error_message = "jobs may take what the shortest worker leaves them"
  }
}

run "aurora_that_pauses" {
  command = plan
  variables {
    database = { kind = "aurora", min_capacity = 0, max_capacity = 2 }
    tick     = { sleep_seconds = 600 }
  }

  assert {
    condition     = length(aws_rds_cluster.this) == 1 && length(aws_rds_cluster_instance.this) == 1 && length(aws_db_instance.this) == 0 && aws_rds_cluster.this[0].serverlessv2_scaling_configuration[0].seconds_until_auto_pause == 300
    error_message = "a cluster that pauses"
  }
  assert {
    condition     = !contains(keys(aws_cloudwatch_metric_alarm.this), "database-cpu-credits") && contains(keys(aws_cloudwatch_metric_alarm.this), "database-capacity")
    error_message = "its alarms are Aurora's"
  }
}

run "existing" {
  command = plan
  variables {
    database = { kind = "existing", secret_arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf", max_connections = 100 }
  }

  assert {
    condition     = length(aws_vpc.this) == 0 && length(aws_lambda_function.api.vpc_config) == 0 && length(aws_db_subnet_group.this) == 0
    error_message = "no network, no database"
  }
  assert {
    condition     = aws_lambda_function.worker["default"].environment[0].variables.BELFRY_DATABASE_URL == "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf" && aws_lambda_function.migrate.environment[0].variables.BELFRY_DEPLOY_ROLES == "false"
    error_message = "functions read the address from the secret"
  }
}

run "long_worker" {
  command = plan
  variables {
    worker_long = { image = "example.com/worker:1", priorities = ["bulk"] }
  }

  assert {
    condition     = length(aws_lambda_function.worker) == 2 && !contains(keys(aws_lambda_event_source_mapping.worker), "bulk") && length(aws_ecs_service.worker_long) == 1 && aws_ecs_service.worker_long[0].network_configuration[0].assign_public_ip
    error_message = "the long worker takes the bulk queue, from a subnet with a way to the registry"
  }
  assert {
    condition     = !contains(keys(aws_lambda_function.api.environment[0].variables), "BELFRY_MOST_TIMEOUT")
    error_message = "jobs may take as long as they like"
  }
}

run "direct" {
  command = plan
  variables {
    direct_mode = true
    worker_long = { image = "example.com/worker:1" }
  }

  assert {
    condition     = length(aws_sqs_queue.job) == 0 && length(aws_lambda_function.worker) == 0 && !contains(keys(aws_lambda_function.api.environment[0].variables), "BELFRY_QUEUE_BULK_URL")
    error_message = "no queues, and no workers on Lambda"
  }
}

run "function_url" {
  command = plan
  variables {
    api = { front = "function_url", stream = true }
  }

  assert {
    condition     = length(aws_apigatewayv2_api.api) == 0 && aws_lambda_function_url.api[0].invoke_mode == "RESPONSE_STREAM" && aws_lambda_function.api.environment[0].variables.BELFRY_STREAM == "true"
    error_message = "a Function URL that streams"
  }
}

run "nat" {
  command = plan
  variables {
    network = { egress = "nat", zones = 3 }
  }

  assert {
    condition     = length(aws_nat_gateway.this) == 1 && length(aws_subnet.private) == 3 && length(aws_subnet.public) == 3
    error_message = "one NAT gateway for three zones"
  }
}

run "endpoints" {
  command = plan
  variables {
    network  = { egress = "endpoints" }
    webhooks = false
  }

  assert {
    condition     = length(aws_vpc_endpoint.this) == 3 && length(aws_egress_only_internet_gateway.this) == 0 && length(aws_vpc_security_group_egress_rule.ipv6) == 0 && length(aws_secretsmanager_secret.webhooks) == 0
    error_message = "no way to the internet"
  }
}

run "economy" {
  command = plan
  variables {
    tick = { mode = "economy", every_minutes = 10 }
  }

  assert {
    condition     = aws_scheduler_schedule.tick.schedule_expression == "rate(10 minutes)" && aws_lambda_function.api.environment[0].variables.BELFRY_ECONOMY == "true" && aws_cloudwatch_metric_alarm.this["tick-silent"].period == 1800
    error_message = "a pass every ten minutes, and an alarm that knows"
  }
}

run "released" {
  command = plan
  variables {
    code = { url = "https://example.com/v1", sha256 = { api = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", tick = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", worker = "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc", migrate = "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd" } }
  }

  assert {
    condition     = length(terraform_data.fetched) == 4 && endswith(aws_lambda_function.api.filename, "api-aaaaaaaaaaaa.zip") && aws_lambda_function.api.source_code_hash == "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    error_message = "each zip is fetched and held against its checksum"
  }
}
