resource "aws_budgets_budget" "this" {
  count        = var.budget == null ? 0 : 1
  name         = "${var.name}-monthly"
  budget_type  = "COST"
  limit_amount = format("%.1f", var.budget.monthly_usd)
  limit_unit   = "USD"
  time_unit    = "MONTHLY"
  tags         = local.tags

  dynamic "cost_filter" {
    for_each = var.budget.cost_tag == null ? [] : [var.budget.cost_tag]
    content {
      name   = "TagKeyValue"
      values = [cost_filter.value]
    }
  }

  dynamic "notification" {
    for_each = { soon = ["ACTUAL", 80], reached = ["ACTUAL", 100], forecast = ["FORECASTED", 100] }
    content {
      comparison_operator       = "GREATER_THAN"
      threshold                 = notification.value[1]
      threshold_type            = "PERCENTAGE"
      notification_type         = notification.value[0]
      subscriber_sns_topic_arns = [local.topic_arn]
    }
  }

  depends_on = [aws_sns_topic_policy.alarms]
}
