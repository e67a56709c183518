# The API: its identity, its rights, its code, and who may call it.

resource "google_service_account" "api" {
  project      = var.project
  account_id   = "${var.name}-api"
  display_name = "Belfry API"
}

# It publishes jobs that are due at once.
resource "google_pubsub_topic_iam_member" "api_publisher" {
  for_each = local.priorities

  project = var.project
  topic   = google_pubsub_topic.queue[each.key].name
  role    = "roles/pubsub.publisher"
  member  = google_service_account.api.member
}

resource "google_pubsub_topic_iam_member" "api_wake" {
  count = var.tick.mode == "idle" ? 1 : 0

  project = var.project
  topic   = google_pubsub_topic.wake[0].name
  role    = "roles/pubsub.publisher"
  member  = google_service_account.api.member
}

# It refuses targets that the workers could not sign for.
resource "google_secret_manager_secret_iam_member" "api_webhook" {
  count = var.webhooks ? 1 : 0

  project   = var.project
  secret_id = google_secret_manager_secret.webhook[0].secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.api.member
}

locals {
  api_settings = merge(
    local.settings, local.queue_settings,
    local.made ? { BELFRY_DATABASE_URL = local.database_url["api"] } : {},
    { BELFRY_DATABASE_POOL = tostring(var.api.pool) },
    local.economy_settings, local.wake_settings,
  )
  api_secrets = merge(local.webhook_secret, local.url_secret)
}

resource "google_cloud_run_v2_service" "api" {
  project             = var.project
  name                = "${var.name}-api"
  location            = var.region
  labels              = local.labels
  ingress             = "INGRESS_TRAFFIC_ALL"
  deletion_protection = var.deletion_protection

  template {
    service_account                  = google_service_account.api.email
    timeout                          = "300s"
    max_instance_request_concurrency = var.api.concurrency

    scaling {
      min_instance_count = var.api.min_instances
      max_instance_count = var.api.max_instances
    }

    containers {
      image = var.images.api

      resources {
        limits            = { cpu = var.api.cpu, memory = var.api.memory }
        cpu_idle          = true
        startup_cpu_boost = true
      }

      startup_probe {
        period_seconds    = 2
        failure_threshold = 30
        http_get {
          path = "/health"
        }
      }

      dynamic "env" {
        for_each = local.api_settings
        content {
          name  = env.key
          value = env.value
        }
      }

      dynamic "env" {
        for_each = local.api_secrets
        content {
          name = env.key
          value_source {
            secret_key_ref {
              secret  = env.value
              version = "latest"
            }
          }
        }
      }
    }

    dynamic "vpc_access" {
      for_each = var.network == null ? [] : [var.network]
      content {
        egress = "PRIVATE_RANGES_ONLY"
        network_interfaces {
          network    = vpc_access.value.network
          subnetwork = vpc_access.value.subnetwork
        }
      }
    }
  }

  depends_on = [
    terraform_data.migrated, google_secret_manager_secret_iam_member.api_webhook, google_secret_manager_secret_iam_member.existing_url,
    google_project_iam_member.cloudsql_client, google_project_iam_member.cloudsql_user,
    google_pubsub_topic_iam_member.api_publisher, google_pubsub_topic_iam_member.api_wake,
  ]
}

# Anybody may reach it: Belfry asks for a token of its own. With api.public = false IAM asks too.
resource "google_cloud_run_v2_service_iam_member" "api_public" {
  count = var.api.public ? 1 : 0

  project  = var.project
  location = var.region
  name     = google_cloud_run_v2_service.api.name
  role     = "roles/run.invoker"
  member   = "allUsers"
}
