# Secrets that the migrate function fills: Terraform never sees their values, and none is in its state.
resource "aws_secretsmanager_secret" "admin_token" {
  name_prefix             = "${var.name}-admin-token-"
  description             = "Token of an admin of ${var.name}"
  recovery_window_in_days = var.deletion_protection ? 7 : 0
  tags                    = local.tags
}

resource "aws_secretsmanager_secret" "webhooks" {
  count                   = var.webhooks ? 1 : 0
  name_prefix             = "${var.name}-webhook-secrets-"
  description             = "Secrets that webhooks of ${var.name} are signed with, the newest first"
  recovery_window_in_days = var.deletion_protection ? 7 : 0
  tags                    = local.tags
}
