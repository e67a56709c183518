# A topic per priority, its subscription, and the dead letters of messages that no worker can read.

locals {
  queue_url = {
    for p in local.priorities : p =>
    "gcppubsubv2://projects/${var.project}/topics/${google_pubsub_topic.queue[p].name}?subscription=${var.name}-${p}"
  }
  queue_settings = { for p, url in local.queue_url : "BELFRY_QUEUE_${upper(p)}_URL" => url }

  # Pub/Sub itself moves messages to the dead letters, and asks for tokens to push with.
  pubsub_agent = "serviceAccount:service-${data.google_project.this.number}@gcp-sa-pubsub.iam.gserviceaccount.com"
}

resource "google_pubsub_topic" "queue" {
  for_each = local.priorities

  project = var.project
  name    = "${var.name}-${each.key}"
  labels  = local.labels

  depends_on = [google_project_service.this, terraform_data.checks]
}

resource "google_pubsub_topic" "dead" {
  for_each = local.priorities

  project = var.project
  name    = "${var.name}-${each.key}-dead"
  labels  = local.labels

  depends_on = [google_project_service.this]
}

# Without a subscription a dead letter would be gone at once.
resource "google_pubsub_subscription" "dead" {
  for_each = local.priorities

  project                    = var.project
  name                       = "${var.name}-${each.key}-dead"
  topic                      = google_pubsub_topic.dead[each.key].id
  labels                     = local.labels
  message_retention_duration = "2678400s"

  expiration_policy {
    ttl = "" # never: else it is deleted after 31 days without a message
  }
}

resource "google_pubsub_subscription" "queue" {
  for_each = local.priorities

  project              = var.project
  name                 = "${var.name}-${each.key}"
  topic                = google_pubsub_topic.queue[each.key].id
  labels               = local.labels
  ack_deadline_seconds = contains(keys(local.pushed), each.key) ? var.push_deadline : 60

  expiration_policy {
    ttl = ""
  }

  retry_policy {
    minimum_backoff = "10s"
    maximum_backoff = "600s"
  }

  dead_letter_policy {
    dead_letter_topic     = google_pubsub_topic.dead[each.key].id
    max_delivery_attempts = contains(keys(local.pushed), each.key) ? 5 : 20 # a pulled message that finds no free slot counts as delivered
  }

  dynamic "push_config" {
    for_each = contains(keys(local.pushed), each.key) ? [1] : []
    content {
      push_endpoint = "${google_cloud_run_v2_service.worker[each.key].uri}/push"
      oidc_token {
        service_account_email = google_service_account.push.email
        audience              = local.worker_audience
      }
    }
  }

  # The rights come first: a message that Pub/Sub may not move or push would be tried until it expires.
  depends_on = [
    google_pubsub_topic_iam_member.dead_publisher, google_cloud_run_v2_service_iam_member.push, google_service_account_iam_member.push_token,
  ]
}

resource "google_pubsub_topic_iam_member" "dead_publisher" {
  for_each = local.priorities

  project = var.project
  topic   = google_pubsub_topic.dead[each.key].name
  role    = "roles/pubsub.publisher"
  member  = local.pubsub_agent
}

resource "google_pubsub_subscription_iam_member" "dead_subscriber" {
  for_each = local.priorities

  project      = var.project
  subscription = google_pubsub_subscription.queue[each.key].name
  role         = "roles/pubsub.subscriber"
  member       = local.pubsub_agent
}
