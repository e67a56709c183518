# A worker that runs all the time, on ECS, for jobs longer than Lambda's 15 minutes. Left out unless worker_long is set.
locals {
  long = var.worker_long == null ? 0 : 1
}

# Who pulls the image, reads the signing secret and writes logs, before the container starts.
resource "aws_iam_role" "worker_long_start" {
  count                = local.long
  name                 = "${var.name}-worker-long-start"
  description          = "Start of the long worker of ${var.name}"
  permissions_boundary = var.permissions_boundary_arn
  assume_role_policy   = local.assume_tasks
  tags                 = local.tags
}

locals {
  assume_tasks = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "ecs-tasks.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = local.account } }
    }]
  })
  long_secrets = merge(
    local.managed ? {} : { BELFRY_DATABASE_URL = var.database.secret_arn },
    { for k, v in local.webhook_settings : k => v },
    { for k, v in var.settings : k => v if can(regex("^arn:aws[a-z-]*:secretsmanager:", v)) },
  )
}

resource "aws_iam_role_policy" "worker_long_start" {
  count = local.long
  name  = "start"
  role  = aws_iam_role.worker_long_start[0].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([
      { Sid = "Logs", Effect = "Allow", Action = ["logs:CreateLogStream", "logs:PutLogEvents"], Resource = "${aws_cloudwatch_log_group.worker_long[0].arn}:*" },
      ], [for s in [
        { Sid = "Registry", Effect = "Allow", Action = ["ecr:GetAuthorizationToken"], Resource = "*" }, # of the account: it knows no resource
        { Sid = "Image", Effect = "Allow", Action = ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"], Resource = var.worker_long.repository_arn },
        ] : s if var.worker_long.repository_arn != null], [for s in [
        { Sid = "Secrets", Effect = "Allow", Action = ["secretsmanager:GetSecretValue"], Resource = values(local.long_secrets) },
    ] : s if length(local.long_secrets) > 0])
  })
}

resource "aws_iam_role" "worker_long" {
  count                = local.long
  name                 = "${var.name}-worker-long"
  description          = "Long worker of ${var.name}"
  permissions_boundary = var.permissions_boundary_arn
  assume_role_policy   = local.assume_tasks
  tags                 = local.tags
}

resource "aws_iam_role_policy" "worker_long" {
  count = local.long == 1 && (local.managed || length(local.priorities) > 0 || var.tick.mode == "idle") ? 1 : 0
  name  = "worker"
  role  = aws_iam_role.worker_long[0].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(local.managed ? local.database_statements.worker : [], [for s in [
      { Sid = "Receive", Effect = "Allow", Action = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility"], Resource = [for p in local.priorities : aws_sqs_queue.job[p].arn] },
    ] : s if length(local.priorities) > 0], local.wake_statements)
  })
}

resource "aws_cloudwatch_log_group" "worker_long" {
  count             = local.long
  name              = "/aws/ecs/${var.name}-worker-long"
  retention_in_days = var.log_retention_days
  tags              = local.tags
}

resource "aws_ecs_cluster" "this" {
  count = local.long
  name  = var.name
  tags  = local.tags

  setting {
    name  = "containerInsights"
    value = "disabled" # what it measures costs more than the worker
  }
}

resource "aws_ecs_task_definition" "worker_long" {
  count                    = local.long
  family                   = "${var.name}-worker-long"
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = tostring(var.worker_long.cpu)
  memory                   = tostring(var.worker_long.memory_mb)
  execution_role_arn       = aws_iam_role.worker_long_start[0].arn
  task_role_arn            = aws_iam_role.worker_long[0].arn
  tags                     = local.tags

  runtime_platform {
    cpu_architecture        = var.worker_long.architecture
    operating_system_family = "LINUX"
  }

  container_definitions = jsonencode([{
    name                   = "worker"
    image                  = var.worker_long.image
    essential              = true
    readonlyRootFilesystem = true
    stopTimeout            = 30
    # Sorted by name, as AWS returns them.
    environment = [for k, v in merge({ for k, v in var.settings : k => v if !contains(keys(local.long_secrets), k) }, local.queue_settings, local.mode_settings, local.wake_settings, {
      BELFRY_LOG_FORMAT = "json", BELFRY_LOG_LEVEL = var.log_level, BELFRY_WORKERS = tostring(var.worker_long.workers), BELFRY_DATABASE_POOL = tostring(var.worker_long.pool)
      AWS_REGION        = local.region
      }, local.managed ? {
      BELFRY_DATABASE_URL = replace(local.database_settings.worker.BELFRY_DATABASE_URL, "/var/task/rds.pem", "/rds.pem"), BELFRY_RDS_IAM = "true"
    } : {}) : { name = k, value = v }]
    secrets     = [for k, v in local.long_secrets : { name = k, valueFrom = v }]
    healthCheck = { command = ["CMD", "/server", "health"], interval = 10, timeout = 6, retries = 3, startPeriod = 60 }
    logConfiguration = {
      logDriver = "awslogs"
      options   = { "awslogs-group" = aws_cloudwatch_log_group.worker_long[0].name, "awslogs-region" = local.region, "awslogs-stream-prefix" = "worker" }
    }
  }])
}

resource "aws_ecs_service" "worker_long" {
  count                              = local.long
  name                               = "${var.name}-worker-long"
  cluster                            = aws_ecs_cluster.this[0].id
  task_definition                    = aws_ecs_task_definition.worker_long[0].arn
  desired_count                      = var.worker_long.tasks
  launch_type                        = "FARGATE"
  deployment_minimum_healthy_percent = 100
  deployment_maximum_percent         = 200
  propagate_tags                     = "SERVICE"
  tags                               = local.tags

  # An address of its own is how a task reaches the registry and receivers of webhooks; its group lets nothing in.
  network_configuration {
    subnets          = local.task_subnets
    security_groups  = concat([aws_security_group.functions[0].id, aws_security_group.worker_long[0].id], var.network.security_group_ids)
    assign_public_ip = local.task_public
  }

  deployment_circuit_breaker {
    enable   = true
    rollback = true
  }

  lifecycle {
    ignore_changes = [availability_zone_rebalancing] # AWS's own default, which is not the same in all versions of the provider
  }

  depends_on = [aws_iam_role_policy.worker_long, aws_iam_role_policy.worker_long_start, aws_lambda_invocation.migrate, aws_vpc_security_group_egress_rule.worker_long]
}

resource "aws_security_group" "worker_long" {
  count       = local.long
  name        = "${var.name}-worker-long"
  description = "Long worker of Belfry: nothing comes in"
  vpc_id      = local.vpc_id
  tags        = merge(local.tags, { Name = "${var.name}-worker-long" })
}

resource "aws_vpc_security_group_egress_rule" "worker_long" {
  for_each          = local.long == 1 ? toset(distinct(concat(["443"], local.web_ports))) : toset([])
  security_group_id = aws_security_group.worker_long[0].id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = tonumber(each.key)
  to_port           = tonumber(each.key)
  description       = "Registry, AWS and receivers of webhooks"
}
