# The admin token and the webhook signing secret: made here, kept in Secret Manager and nowhere else. Neither is in the state.

locals {
  # The secrets that a program reads, by the setting that holds them.
  token_secret   = { BELFRY_TOKENS = google_secret_manager_secret_version.admin_token }
  webhook_secret = var.webhooks ? { BELFRY_WEBHOOK_SECRETS = google_secret_manager_secret_version.webhook[0] } : {}
  url_secret     = var.existing_database == null ? {} : { BELFRY_DATABASE_URL = { secret = var.existing_database.url_secret, version = "latest" } }
}

ephemeral "random_password" "admin_token" {
  length  = 48
  special = false
}

resource "google_secret_manager_secret" "admin_token" {
  project   = var.project
  secret_id = "${var.name}-admin-token"
  labels    = local.labels

  replication {
    auto {}
  }

  depends_on = [google_project_service.this, terraform_data.checks]
}

resource "google_secret_manager_secret_version" "admin_token" {
  secret                 = google_secret_manager_secret.admin_token.id
  secret_data_wo         = ephemeral.random_password.admin_token.result
  secret_data_wo_version = var.admin_token_version
}

ephemeral "random_password" "webhook" {
  length  = 32
  special = false
}

resource "google_secret_manager_secret" "webhook" {
  count = var.webhooks ? 1 : 0

  project   = var.project
  secret_id = "${var.name}-webhook-secret"
  labels    = local.labels

  replication {
    auto {}
  }

  depends_on = [google_project_service.this]
}

resource "google_secret_manager_secret_version" "webhook" {
  count = var.webhooks ? 1 : 0

  secret                 = google_secret_manager_secret.webhook[0].id
  secret_data_wo         = "whsec_${base64encode(ephemeral.random_password.webhook.result)}"
  secret_data_wo_version = var.webhook_secret_version
}
