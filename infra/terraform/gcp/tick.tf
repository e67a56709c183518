# The tick: its identity, its rights, its code, and the scheduler jobs that call it.

resource "google_service_account" "tick" {
  project      = var.project
  account_id   = "${var.name}-tick"
  display_name = "Belfry tick"
}

resource "google_pubsub_topic_iam_member" "tick_publisher" {
  for_each = local.priorities

  project = var.project
  topic   = google_pubsub_topic.queue[each.key].name
  role    = "roles/pubsub.publisher"
  member  = google_service_account.tick.member
}

# It signs the webhooks of alerts.
resource "google_secret_manager_secret_iam_member" "tick_webhook" {
  count = var.webhooks ? 1 : 0

  project   = var.project
  secret_id = google_secret_manager_secret.webhook[0].secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.tick.member
}

locals {
  # Two calls overlap; a third instance serves a wake, or the revision that begins while they end.
  tick_instances = var.tick.mode == "economy" ? 2 : 3
  tick_audience  = "${var.name}-tick"

  tick_settings = merge(
    local.settings, local.queue_settings,
    local.made ? { BELFRY_DATABASE_URL = local.database_url["tick"] } : {},
    {
      BELFRY_DATABASE_POOL   = tostring(var.tick.pool)
      BELFRY_TICK_TIME       = "${var.tick.seconds}s"
      BELFRY_CALLER_AUDIENCE = local.tick_audience
      BELFRY_CALLER_ACCOUNT  = google_service_account.scheduler.email
      BELFRY_CALLER_IAM      = "true"
    },
    local.economy_settings,
  )
  tick_secrets = merge(local.webhook_secret, local.url_secret)

  # Cloud Scheduler never runs one job twice at once, and a call may be longer than a minute: two jobs take turns.
  tick_schedules = var.tick.mode == "economy" ? { each = "* * * * *" } : { even = "*/2 * * * *", odd = "1-59/2 * * * *" }
}

resource "google_cloud_run_v2_service" "tick" {
  project             = var.project
  name                = "${var.name}-tick"
  location            = var.region
  labels              = local.labels
  ingress             = "INGRESS_TRAFFIC_INTERNAL_ONLY" # Cloud Scheduler of the project counts as internal
  custom_audiences    = [local.tick_audience]
  deletion_protection = var.deletion_protection

  template {
    service_account                  = google_service_account.tick.email
    timeout                          = "180s"
    max_instance_request_concurrency = 1 # what less than one CPU allows
    execution_environment            = tonumber(var.tick.cpu) < 1 ? "EXECUTION_ENVIRONMENT_GEN1" : "EXECUTION_ENVIRONMENT_GEN2"

    scaling {
      min_instance_count = 0
      max_instance_count = local.tick_instances
    }

    containers {
      image = var.images.tick

      resources {
        limits            = { cpu = var.tick.cpu, memory = var.tick.memory }
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
        for_each = local.tick_settings
        content {
          name  = env.key
          value = env.value
        }
      }

      dynamic "env" {
        for_each = local.tick_secrets
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
    terraform_data.migrated, google_secret_manager_secret_iam_member.tick_webhook, google_secret_manager_secret_iam_member.existing_url,
    google_project_iam_member.cloudsql_client, google_project_iam_member.cloudsql_user, google_pubsub_topic_iam_member.tick_publisher,
  ]
}

resource "google_service_account" "scheduler" {
  project      = var.project
  account_id   = "${var.name}-scheduler"
  display_name = "Belfry: Cloud Scheduler calls the tick"
}

resource "google_cloud_run_v2_service_iam_member" "scheduler" {
  project  = var.project
  location = var.region
  name     = google_cloud_run_v2_service.tick.name
  role     = "roles/run.invoker"
  member   = google_service_account.scheduler.member
}

resource "google_cloud_scheduler_job" "tick" {
  for_each = local.tick_schedules

  project          = var.project
  region           = var.region
  name             = "${var.name}-tick-${each.key}"
  description      = "Calls the tick of Belfry"
  schedule         = each.value
  time_zone        = "Etc/UTC"
  attempt_deadline = "180s"

  # A call that failed is not repeated: the next one does what it left.
  retry_config {
    retry_count = 0
  }

  http_target {
    http_method = "POST"
    uri         = "${google_cloud_run_v2_service.tick.uri}/tick"
    oidc_token {
      service_account_email = google_service_account.scheduler.email
      audience              = local.tick_audience
    }
  }

  depends_on = [google_cloud_run_v2_service_iam_member.scheduler]
}

# In mode idle API and workers wake the tick through a topic: a request to it would stay open as long as it ticks.
resource "google_pubsub_topic" "wake" {
  count = var.tick.mode == "idle" ? 1 : 0

  project = var.project
  name    = "${var.name}-wake"
  labels  = local.labels

  depends_on = [google_project_service.this]
}

resource "google_pubsub_subscription" "wake" {
  count = var.tick.mode == "idle" ? 1 : 0

  project                    = var.project
  name                       = "${var.name}-wake"
  topic                      = google_pubsub_topic.wake[0].id
  labels                     = local.labels
  ack_deadline_seconds       = 180
  message_retention_duration = "600s" # a wake of long ago wakes for nothing

  expiration_policy {
    ttl = ""
  }

  retry_policy {
    minimum_backoff = "5s"
    maximum_backoff = "60s"
  }

  push_config {
    push_endpoint = "${google_cloud_run_v2_service.tick.uri}/tick"
    oidc_token {
      service_account_email = google_service_account.scheduler.email
      audience              = local.tick_audience
    }
  }

  depends_on = [google_cloud_run_v2_service_iam_member.scheduler, google_service_account_iam_member.scheduler_token]
}

# As for the pushes to the workers.
resource "google_service_account_iam_member" "scheduler_token" {
  service_account_id = google_service_account.scheduler.name
  role               = "roles/iam.serviceAccountTokenCreator"
  member             = local.pubsub_agent
}
