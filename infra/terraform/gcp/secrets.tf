# The admin token and the webhook signing secrets: the migrations make them, and keep them in Secret Manager. They are never in the state.

locals {
  # The secrets that a program reads, by the setting that holds them. A container reads the newest version when it starts.
  webhook_secret = var.webhooks ? { BELFRY_WEBHOOK_SECRETS = google_secret_manager_secret.webhook[0].secret_id } : {}
  url_secret     = var.existing_database == null ? {} : { BELFRY_DATABASE_URL = var.existing_database.url_secret }

  made_secrets = merge(
    { admin_token = google_secret_manager_secret.admin_token },
    var.webhooks ? { webhook = google_secret_manager_secret.webhook[0] } : {},
  )
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

resource "google_secret_manager_secret" "webhook" {
  count = var.webhooks ? 1 : 0

  project   = var.project
  secret_id = "${var.name}-webhook-secrets"
  labels    = local.labels

  replication {
    auto {}
  }

  depends_on = [google_project_service.this]
}
