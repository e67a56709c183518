# The workers: their identity, their rights, their code, one service per priority, and the pushes that start jobs.

resource "google_service_account" "worker" {
  project      = var.project
  account_id   = "${var.name}-worker"
  display_name = "Belfry worker"
}

resource "google_secret_manager_secret_iam_member" "worker_webhook" {
  count = var.webhooks ? 1 : 0

  project   = var.project
  secret_id = google_secret_manager_secret.webhook[0].secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.worker.member
}

# A job that is to run again may be due before the tick's next call.
resource "google_pubsub_topic_iam_member" "worker_wake" {
  count = var.tick.mode == "idle" ? 1 : 0

  project = var.project
  topic   = google_pubsub_topic.wake[0].name
  role    = "roles/pubsub.publisher"
  member  = google_service_account.worker.member
}

locals {
  worker_audience = "${var.name}-worker"
  worker_settings = merge(
    local.settings, local.wake_settings,
    local.made ? { BELFRY_DATABASE_URL = local.database_url["worker"] } : {},
    {
      BELFRY_PUSH_DEADLINE   = "${var.push_deadline}s"
      BELFRY_CALLER_AUDIENCE = local.worker_audience
      BELFRY_CALLER_ACCOUNT  = google_service_account.push.email
      BELFRY_CALLER_IAM      = "true"
    },
  )
  worker_secrets = merge(local.webhook_secret, local.url_secret)
}

resource "google_cloud_run_v2_service" "worker" {
  for_each = local.pushed

  project             = var.project
  name                = "${var.name}-worker-${each.key}"
  location            = var.region
  labels              = merge(local.labels, { priority = each.key })
  ingress             = "INGRESS_TRAFFIC_INTERNAL_ONLY" # Pub/Sub of the project counts as internal
  custom_audiences    = [local.worker_audience]
  deletion_protection = var.deletion_protection

  template {
    service_account                  = google_service_account.worker.email
    timeout                          = "${var.push_deadline}s" # Cloud Run's own would end requests after 300 s
    max_instance_request_concurrency = each.value.concurrency

    scaling {
      min_instance_count = each.value.min_instances
      max_instance_count = each.value.max_instances
    }

    containers {
      image = var.images.worker

      resources {
        limits            = { cpu = each.value.cpu, memory = each.value.memory }
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
        for_each = merge(local.worker_settings, {
          BELFRY_DATABASE_POOL = tostring(each.value.pool)
          BELFRY_WORKERS       = tostring(each.value.concurrency)
        })
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

    # Private addresses only: deliveries to targets leave by Cloud Run's own way, so no NAT gateway is needed.
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
    terraform_data.migrated, google_secret_manager_secret_iam_member.worker_webhook, google_secret_manager_secret_iam_member.existing_url,
    google_project_iam_member.cloudsql_client, google_project_iam_member.cloudsql_user, google_pubsub_topic_iam_member.worker_wake,
  ]
}

resource "google_service_account" "push" {
  project      = var.project
  account_id   = "${var.name}-push"
  display_name = "Belfry: Pub/Sub pushes to the workers"
}

resource "google_cloud_run_v2_service_iam_member" "push" {
  for_each = local.pushed

  project  = var.project
  location = var.region
  name     = google_cloud_run_v2_service.worker[each.key].name
  role     = "roles/run.invoker"
  member   = google_service_account.push.member
}

# Projects older than April 2021 do not let Pub/Sub make tokens by themselves.
resource "google_service_account_iam_member" "push_token" {
  service_account_id = google_service_account.push.name
  role               = "roles/iam.serviceAccountTokenCreator"
  member             = local.pubsub_agent
}
