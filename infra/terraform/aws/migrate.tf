# The function that migrates the schema, gives the others their database roles and makes the first secrets. It is invoked before the
# others are made, and again before they are updated.
resource "aws_iam_role" "migrate" {
  name                 = "${var.name}-migrate"
  description          = "Migrate function of ${var.name}"
  assume_role_policy   = local.assume_lambda
  permissions_boundary = var.permissions_boundary_arn
  tags                 = local.tags
}

resource "aws_iam_role_policy" "migrate" {
  name = "migrate"
  role = aws_iam_role.migrate.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(local.basic_statements.migrate, [
      { Sid = "SignIn", Effect = "Allow", Action = ["secretsmanager:GetSecretValue"], Resource = [local.managed ? local.master_secret_arn : var.database.secret_arn] },
      {
        Sid      = "FillSecrets", Effect = "Allow", Action = ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret", "secretsmanager:PutSecretValue"],
        Resource = concat([aws_secretsmanager_secret.admin_token.arn], aws_secretsmanager_secret.webhooks[*].arn)
      },
    ])
  })
}

resource "aws_cloudwatch_log_group" "migrate" {
  name              = "/aws/lambda/${var.name}-migrate"
  retention_in_days = var.log_retention_days
  tags              = local.tags
}

resource "aws_lambda_function" "migrate" {
  function_name    = "${var.name}-migrate"
  description      = "Migrations of ${var.name}"
  role             = aws_iam_role.migrate.arn
  runtime          = "provided.al2023"
  architectures    = [local.lambda_architecture]
  handler          = "bootstrap"
  filename         = local.file.migrate
  s3_bucket        = var.code.s3_bucket
  s3_key           = var.code.s3_bucket == null ? null : "${var.code.s3_prefix}${local.zip.migrate}"
  source_code_hash = local.code_version.migrate
  memory_size      = 512
  timeout          = 900
  tags             = local.tags

  environment {
    variables = merge(local.common_settings, {
      BELFRY_DATABASE_URL              = local.managed ? "postgres://${local.database_host}:${local.database_port}/belfry?${local.tls_parameters}" : var.database.secret_arn
      BELFRY_DEPLOY_ROLES              = tostring(local.managed)
      BELFRY_DEPLOY_ADMIN_TOKEN_SECRET = aws_secretsmanager_secret.admin_token.arn
      }, local.managed ? {
      BELFRY_DEPLOY_LOGIN_SECRET = local.master_secret_arn
      } : {}, var.webhooks ? {
      BELFRY_DEPLOY_WEBHOOK_SECRETS_SECRET = aws_secretsmanager_secret.webhooks[0].arn
    } : {})
  }

  dynamic "vpc_config" {
    for_each = local.in_vpc ? [1] : []
    content {
      subnet_ids                  = local.subnet_ids
      security_group_ids          = local.function_security_groups
      ipv6_allowed_for_dual_stack = local.over_ipv6 || local.creates_network
    }
  }

  depends_on = [aws_iam_role_policy.migrate, aws_cloudwatch_log_group.migrate, terraform_data.fetched, terraform_data.checks]
}

resource "aws_lambda_function_event_invoke_config" "migrate" {
  function_name                = aws_lambda_function.migrate.function_name
  maximum_event_age_in_seconds = 60
  maximum_retry_attempts       = 0
}

# Once for each version of the code and each database.
resource "aws_lambda_invocation" "migrate" {
  count         = var.run_migrations ? 1 : 0
  function_name = aws_lambda_function.migrate.function_name
  input         = jsonencode({ rotate = [] })
  triggers = {
    code     = local.code_version.migrate
    database = local.managed ? local.database_resource_id : var.database.secret_arn
    secrets  = join(" ", concat([aws_secretsmanager_secret.admin_token.arn], aws_secretsmanager_secret.webhooks[*].arn))
  }

  # The way to the database and to AWS must be there.
  depends_on = [
    aws_rds_cluster_instance.this, aws_vpc_security_group_ingress_rule.database, aws_vpc_security_group_egress_rule.database,
    aws_vpc_security_group_egress_rule.ipv6, aws_vpc_security_group_egress_rule.ipv4, aws_vpc_security_group_egress_rule.endpoints,
    aws_vpc_security_group_ingress_rule.endpoints, aws_route.ipv6_out, aws_route.nat_out, aws_vpc_endpoint.this,
    aws_route_table_association.private, aws_lambda_function_event_invoke_config.migrate,
  ]
}
