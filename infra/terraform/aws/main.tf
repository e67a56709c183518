# What the other files share. Each function has a file of its own, with its identity, rights, code and trigger.
data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.id
  arn       = "arn:${local.partition}"

  tags = merge({ Project = var.name, ManagedBy = "terraform" }, var.tags)

  priorities = var.direct_mode ? [] : ["critical", "default", "bulk"]
  # Queues that a function works off; the others are left to the long worker.
  mapped = [for p in local.priorities : p if var.worker_long == null || !contains(try(var.worker_long.priorities, []), p)]

  # ---- code ----
  functions = ["api", "tick", "worker", "migrate"]
  zip       = { for f in local.functions : f => "${f}-${var.code.architecture}.zip" }
  fetched   = { for f in local.functions : f => "${path.root}/.terraform/belfry/${f}-${substr(lookup(var.code.sha256, f, "none"), 0, 12)}.zip" }
  file = {
    for f in local.functions : f => (
      var.code.directory != null ? "${var.code.directory}/${local.zip[f]}" :
      var.code.url != null ? local.fetched[f] : null
    )
  }
  # Changes with the code, and with nothing else: equal zips on two machines make no difference.
  code_version = {
    for f in local.functions : f => (
      var.code.directory != null ? filebase64sha256("${var.code.directory}/${local.zip[f]}") :
      var.code.url != null ? var.code.sha256[f] : var.code.version
    )
  }
  lambda_architecture = var.code.architecture == "arm64" ? "arm64" : "x86_64"

  # ---- settings ----
  common_settings = merge(var.settings, {
    BELFRY_LOG_FORMAT = "json"
    BELFRY_LOG_LEVEL  = var.log_level
    }, local.in_vpc && local.over_ipv6 ? {
    # AWS's dual-stack endpoints answer over IPv6, the only way out of the subnets.
    AWS_USE_DUALSTACK_ENDPOINT = "true"
  } : {})
  queue_settings = { for p in local.priorities : "BELFRY_QUEUE_${upper(p)}_URL" => "awssqs://${replace(aws_sqs_queue.job[p].url, "/^https?:///", "")}?region=${local.region}" }
  # How the tick ends, for all who count on it or wake it.
  mode_settings = var.tick.mode == "economy" ? { BELFRY_ECONOMY = "true" } : var.tick.mode == "loop" ? {} : merge(
    { BELFRY_TICK_IDLE = "1m" },
    var.tick.sleep_seconds > 0 ? { BELFRY_TICK_SLEEP = "${var.tick.sleep_seconds}s" } : {},
  )
  tick_arn         = "${local.arn}:lambda:${local.region}:${local.account}:function:${var.name}-tick"
  wake_settings    = var.tick.mode == "idle" ? { BELFRY_TICK_WAKE = local.tick_arn } : {}
  webhook_settings = var.webhooks ? { BELFRY_WEBHOOK_SECRETS = one(aws_secretsmanager_secret.webhooks[*].arn) } : {}

  # What a worker function leaves a job of its timeout: less the grace twice, of at most 10 s and a sixteenth, and 13 s.
  job_seconds    = min(concat([900], [for p in local.mapped : var.workers[p].timeout_seconds - 13 - 2 * min(10, floor(var.workers[p].timeout_seconds / 16))])...)
  bound_settings = length(local.mapped) > 0 && var.worker_long == null ? { BELFRY_MOST_TIMEOUT = "${local.job_seconds}s", BELFRY_TIMEOUT = "${local.job_seconds}s" } : {}

  # ---- connections: what all environments together can open ----
  worker_connections = sum(concat([0], [for p in local.mapped : var.workers[p].max_concurrency * var.workers[p].pool]))
  connections        = local.worker_connections + var.api.concurrency * var.api.pool + 2 * 2 + 3 + try(var.worker_long.tasks * var.worker_long.pool, 0)

  # ---- rights that several functions need ----
  # Lambda makes network interfaces with a function's role. It names no resource that could be given here; the function's own code
  # is denied them.
  interface_actions = ["ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:UnassignPrivateIpAddresses"]
  assume_lambda = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = { Service = "lambda.amazonaws.com" }, Action = "sts:AssumeRole" }]
  })
  function_names = merge({ for f in ["api", "tick", "migrate"] : f => "${var.name}-${f}" }, { for p in local.mapped : "worker_${p}" => "${var.name}-worker-${p}" })
  basic_statements = {
    for f, name in local.function_names : f => concat([
      { Sid = "Logs", Effect = "Allow", Action = ["logs:CreateLogStream", "logs:PutLogEvents"], Resource = "${local.arn}:logs:${local.region}:${local.account}:log-group:/aws/lambda/${name}:*" },
      ], [for s in [
        { Sid = "Interfaces", Effect = "Allow", Action = local.interface_actions, Resource = "*" },
        { Sid = "InterfacesNotByCode", Effect = "Deny", Action = local.interface_actions, Resource = "*", Condition = { ArnEquals = { "lambda:SourceFunctionArn" = "${local.arn}:lambda:${local.region}:${local.account}:function:${name}" } } },
        ] : s if local.in_vpc], [for s in [
        { Sid = "Secrets", Effect = "Allow", Action = ["secretsmanager:GetSecretValue"], Resource = var.secret_arns },
    ] : s if length(var.secret_arns) > 0])
  }
  database_statements = {
    for role in ["api", "tick", "worker"] : role => [
      local.managed ?
      { Sid = "SignIn", Effect = "Allow", Action = ["rds-db:connect"], Resource = ["${local.arn}:rds-db:${local.region}:${local.account}:dbuser:${local.database_resource_id}/belfry_${role}"] } :
      { Sid = "SignIn", Effect = "Allow", Action = ["secretsmanager:GetSecretValue"], Resource = [var.database.secret_arn] }
    ]
  }
  send_statements = [for s in [
    { Sid = "Send", Effect = "Allow", Action = ["sqs:SendMessage"], Resource = [for p in local.priorities : aws_sqs_queue.job[p].arn] },
  ] : s if length(local.priorities) > 0]
  wake_statements = [for s in [
    { Sid = "WakeTick", Effect = "Allow", Action = ["lambda:InvokeFunction"], Resource = local.tick_arn },
  ] : s if var.tick.mode == "idle"]
  webhook_statements = [for s in [
    { Sid = "SigningSecret", Effect = "Allow", Action = ["secretsmanager:GetSecretValue"], Resource = aws_secretsmanager_secret.webhooks[*].arn },
  ] : s if var.webhooks]
}

# A released artifact, by URL and checksum.
resource "terraform_data" "fetched" {
  for_each         = var.code.url == null ? {} : var.code.sha256
  triggers_replace = [each.value, local.fetched[each.key]]

  provisioner "local-exec" {
    command = "mkdir -p \"$(dirname \"$TO\")\" && curl --proto =https --tlsv1.2 -fsSL --retry 3 -o \"$TO.part\" \"$FROM\" && echo \"$SHA256  $TO.part\" | (sha256sum -c - || shasum -a 256 -c -) && mv \"$TO.part\" \"$TO\""
    environment = {
      FROM   = "${var.code.url}/${local.zip[each.key]}"
      TO     = local.fetched[each.key]
      SHA256 = each.value
    }
  }
}

# Whether the parts fit together. Each message says what to change.
resource "terraform_data" "checks" {
  input = var.name

  lifecycle {
    precondition {
      condition     = local.max_connections != null
      error_message = "database.max_connections: say how many connections the database takes: the module does not know that of ${var.database.kind == "existing" ? "an existing one" : "the class ${var.database.instance_class}"} (SHOW max_connections)."
    }
    precondition {
      condition     = local.max_connections == null || local.connections <= coalesce(local.max_connections, 0) - 10
      error_message = "connections: workers' max_concurrency × pool (${local.worker_connections}), the API's concurrency × pool (${var.api.concurrency * var.api.pool}), ticks, migrations and the long worker can open ${local.connections} connections; the database takes ${coalesce(local.max_connections, 0)}, 10 of which are kept for you. Lower max_concurrency, api.concurrency or pool, or take a larger database."
    }
    precondition {
      condition     = alltrue([for p in local.priorities : local.visibility[p] >= 6 * var.workers[p].timeout_seconds && local.visibility[p] <= 43200])
      error_message = "workers: visibility_seconds must be at least six times timeout_seconds (and at most 43200), or messages come back while their batch is retried: ${join(", ", [for p in local.priorities : "${p} has ${local.visibility[p]}, wants ${6 * var.workers[p].timeout_seconds}" if local.visibility[p] < 6 * var.workers[p].timeout_seconds || local.visibility[p] > 43200])}. Raise it, lower timeout_seconds, or leave it out."
    }
    precondition {
      condition     = !(var.tick.mode == "economy" && var.direct_mode)
      error_message = "tick.mode: economy needs queues, by which the API gets due jobs to workers without a tick: set direct_mode = false, or mode = \"idle\"."
    }
    precondition {
      condition     = !var.direct_mode || var.worker_long != null
      error_message = "direct_mode: without queues only a worker that runs all the time finds jobs: give worker_long, or set direct_mode = false."
    }
    precondition {
      condition     = var.database.kind != "aurora" || var.database.min_capacity > 0 || var.tick.sleep_seconds > var.database.pause_after_seconds || var.tick.mode == "economy" && var.tick.every_minutes * 60 > var.database.pause_after_seconds + 60
      error_message = "database.min_capacity: a database of 0 ACUs pauses after ${var.database.pause_after_seconds} s without a connection, and this tick never lets it: set tick.sleep_seconds above that (idle mode), or economy mode with every_minutes = 10 or more, or a min_capacity of 0.5."
    }
    precondition {
      condition     = alltrue([for role in ["worker-critical", "worker-long-start", "migrate", "schedule"] : length("${var.name}-${role}") <= 64]) && length("${var.name}-webhook-secrets-") <= 64
      error_message = "name: ${var.name} is too long: IAM roles and functions have names of at most 64 characters."
    }
    precondition {
      condition     = var.database.secret_arn == null || try(split(":", var.database.secret_arn)[3] == local.region, false)
      error_message = "database.secret_arn: the secret is in another region than the functions (${local.region}): replicate it, and give the replica's ARN."
    }
    precondition {
      condition     = alltrue([for arn in concat(var.secret_arns, var.alarms.topic_arn[*]) : try(split(":", arn)[3] == local.region, false)])
      error_message = "secret_arns, alarms.topic_arn: all must be in the region of the functions, ${local.region}."
    }
    precondition {
      condition     = alltrue([for v in values(var.settings) : !can(regex("^arn:aws[a-z-]*:secretsmanager:", v)) || contains(var.secret_arns, v)])
      error_message = "settings: a secret that a setting names must be in secret_arns too, so that the functions may read it."
    }
    precondition {
      condition     = !var.webhooks || var.network.egress != "endpoints" || !local.creates_network
      error_message = "webhooks: with network.egress = \"endpoints\" the functions reach no receiver: set egress to ipv6 or nat, or webhooks to false."
    }
    precondition {
      condition     = var.worker_long == null || local.creates_network || length(local.task_subnets) > 0
      error_message = "worker_long: give network.vpc_id and subnet_ids (and public_subnet_ids, where the private ones have no way to a registry): ECS tasks are always in a VPC."
    }
  }
}
