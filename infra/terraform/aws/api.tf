# The API: a function behind an HTTP API or a Function URL, which are the only things here that the public reaches.
resource "aws_iam_role" "api" {
  name                 = "${var.name}-api"
  description          = "API function of ${var.name}"
  assume_role_policy   = local.assume_lambda
  permissions_boundary = var.permissions_boundary_arn
  tags                 = local.tags
}

resource "aws_iam_role_policy" "api" {
  name = "api"
  role = aws_iam_role.api.id
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = concat(local.basic_statements.api, local.database_statements.api, local.send_statements, local.webhook_statements, local.wake_statements)
  })
}

resource "aws_cloudwatch_log_group" "api" {
  name              = "/aws/lambda/${var.name}-api"
  retention_in_days = var.log_retention_days
  tags              = local.tags
}

resource "aws_lambda_function" "api" {
  function_name                  = "${var.name}-api"
  description                    = "HTTP API of ${var.name}"
  role                           = aws_iam_role.api.arn
  runtime                        = "provided.al2023"
  architectures                  = [local.lambda_architecture]
  handler                        = "bootstrap"
  filename                       = local.file.api
  s3_bucket                      = var.code.s3_bucket
  s3_key                         = var.code.s3_bucket == null ? null : "${var.code.s3_prefix}${local.zip.api}"
  source_code_hash               = local.code_version.api
  memory_size                    = var.api.memory_mb
  timeout                        = var.api.timeout_seconds
  reserved_concurrent_executions = var.api.reserve_concurrency ? var.api.concurrency : -1
  tags                           = local.tags

  environment {
    variables = merge(local.common_settings, local.queue_settings, local.mode_settings, local.wake_settings, local.webhook_settings, local.bound_settings, local.database_settings.api, {
      BELFRY_DATABASE_POOL = tostring(var.api.pool)
      BELFRY_STREAM        = tostring(var.api.stream)
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

  # Migrations first: the version before works on the new schema, the new one not on the old.
  depends_on = [aws_iam_role_policy.api, aws_cloudwatch_log_group.api, aws_lambda_invocation.migrate, terraform_data.fetched]
}

# ---- HTTP API: $1.00 per million requests, nothing while idle ----
resource "aws_apigatewayv2_api" "api" {
  count         = var.api.front == "http_api" ? 1 : 0
  name          = var.name
  description   = "HTTP API of ${var.name}"
  protocol_type = "HTTP"
  tags          = local.tags
}

resource "aws_apigatewayv2_integration" "api" {
  count                  = var.api.front == "http_api" ? 1 : 0
  api_id                 = aws_apigatewayv2_api.api[0].id
  integration_type       = "AWS_PROXY"
  integration_uri        = aws_lambda_function.api.invoke_arn
  integration_method     = "POST"
  payload_format_version = "2.0"
  timeout_milliseconds   = 30000
}

resource "aws_apigatewayv2_route" "api" {
  count     = var.api.front == "http_api" ? 1 : 0
  api_id    = aws_apigatewayv2_api.api[0].id
  route_key = "$default"
  target    = "integrations/${aws_apigatewayv2_integration.api[0].id}"
}

resource "aws_cloudwatch_log_group" "requests" {
  count             = var.api.front == "http_api" ? 1 : 0
  name              = "/aws/apigateway/${var.name}"
  retention_in_days = var.log_retention_days
  tags              = local.tags
}

resource "aws_apigatewayv2_stage" "api" {
  count       = var.api.front == "http_api" ? 1 : 0
  api_id      = aws_apigatewayv2_api.api[0].id
  name        = "$default"
  auto_deploy = true
  tags        = local.tags

  default_route_settings {
    throttling_rate_limit  = var.api.rate
    throttling_burst_limit = var.api.burst
  }

  access_log_settings {
    destination_arn = aws_cloudwatch_log_group.requests[0].arn
    format          = jsonencode({ time = "$context.requestTimeEpoch", status = "$context.status", method = "$context.httpMethod", path = "$context.path", ip = "$context.identity.sourceIp", error = "$context.error.message", integration = "$context.integrationErrorMessage", request = "$context.requestId" })
  }

  lifecycle {
    ignore_changes = [deployment_id]
  }
}

resource "aws_lambda_permission" "api_http" {
  count          = var.api.front == "http_api" ? 1 : 0
  statement_id   = "http-api"
  action         = "lambda:InvokeFunction"
  function_name  = aws_lambda_function.api.function_name
  principal      = "apigateway.amazonaws.com"
  source_arn     = "${aws_apigatewayv2_api.api[0].execution_arn}/*/$default"
  source_account = local.account
}

# ---- Function URL: nothing per request ----
resource "aws_lambda_function_url" "api" {
  count              = var.api.front == "function_url" ? 1 : 0
  function_name      = aws_lambda_function.api.function_name
  authorization_type = "NONE" # the API asks for a token itself
  invoke_mode        = var.api.stream ? "RESPONSE_STREAM" : "BUFFERED"
}

# A Function URL needs a second permission, lambda:InvokeFunction only by way of the URL, which providers before 6.28 cannot
# express: see README.md, where the three lines are that add it. Without it the URL answers 403.
resource "aws_lambda_permission" "api_url" {
  count                  = var.api.front == "function_url" ? 1 : 0
  statement_id           = "function-url"
  action                 = "lambda:InvokeFunctionUrl"
  function_name          = aws_lambda_function.api.function_name
  principal              = "*"
  function_url_auth_type = "NONE"
}
