# A worker pool that pulls, for jobs longer than a push allows: its identity, its rights, its code. Off unless worker_long is set.

resource "google_service_account" "worker_long" {
  count = var.worker_long == null ? 0 : 1

  project      = var.project
  account_id   = "${var.name}-long"
  display_name = "Belfry worker for long jobs"
}

resource "google_secret_manager_secret_iam_member" "worker_long_webhook" {
  count = var.worker_long != null && var.webhooks ? 1 : 0

  project   = var.project
  secret_id = google_secret_manager_secret.webhook[0].secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.worker_long[0].member
}

# It receives from the queue of its priority only; the others are pushed.
resource "google_pubsub_subscription_iam_member" "worker_long" {
  count = var.worker_long == null ? 0 : 1

  project      = var.project
  subscription = google_pubsub_subscription.queue[var.worker_long.priority].name
  role         = "roles/pubsub.subscriber"
  member       = google_service_account.worker_long[0].member
}

resource "google_pubsub_topic_iam_member" "worker_long_wake" {
  count = var.worker_long != null && var.tick.mode == "idle" ? 1 : 0

  project = var.project
  topic   = google_pubsub_topic.wake[0].name
  role    = "roles/pubsub.publisher"
  member  = google_service_account.worker_long[0].member
}

locals {
  worker_long_settings = var.worker_long == null ? {} : merge(
    local.settings, local.queue_settings, local.wake_settings,
    local.made ? { BELFRY_DATABASE_URL = local.database_url["worker_long"] } : {},
    {
      BELFRY_DATABASE_POOL     = tostring(var.worker_long.pool)
      BELFRY_WORKERS           = tostring(var.worker_long.jobs)
      BELFRY_WORKER_PRIORITIES = var.worker_long.priority
    },
  )
}

resource "google_cloud_run_v2_worker_pool" "worker_long" {
  count = var.worker_long == null ? 0 : 1

  project             = var.project
  name                = "${var.name}-worker-long"
  location            = var.region
  labels              = local.labels
  deletion_protection = var.deletion_protection

  scaling {
    scaling_mode          = "MANUAL"
    manual_instance_count = var.worker_long.instances
  }

  template {
    service_account = google_service_account.worker_long[0].email

    containers {
      image = var.images.worker_long

      resources {
        limits = { cpu = var.worker_long.cpu, memory = var.worker_long.memory }
      }

      dynamic "env" {
        for_each = local.worker_long_settings
        content {
          name  = env.key
          value = env.value
        }
      }

      dynamic "env" {
        for_each = local.worker_secrets
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
    terraform_data.migrated, google_secret_manager_secret_iam_member.worker_long_webhook, google_secret_manager_secret_iam_member.existing_url,
    google_project_iam_member.cloudsql_client, google_project_iam_member.cloudsql_user, google_pubsub_subscription_iam_member.worker_long,
    google_pubsub_topic_iam_member.worker_long_wake,
  ]
}
