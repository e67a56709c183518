# What the other files share: names, settings that all programs have, and what must hold between variables.

data "google_project" "this" {
  project_id = var.project
}

locals {
  labels = merge({ application = var.name }, var.labels)

  priorities = toset(["critical", "default", "bulk"])

  # The programs by their accounts; each is made in the file of its program.
  accounts = merge(
    {
      api     = google_service_account.api
      tick    = google_service_account.tick
      worker  = google_service_account.worker
      migrate = google_service_account.migrate
    },
    var.worker_long == null ? {} : { worker_long = google_service_account.worker_long[0] },
  )

  # Priorities that Pub/Sub pushes to a service. The one of the worker pool is pulled.
  pushed = var.worker_long == null ? var.workers : { for p, w in var.workers : p => w if p != var.worker_long.priority }

  # An attempt has nine tenths of the push deadline. Where a pool runs long jobs there is no bound for all.
  max_timeout = var.worker_long == null ? { BELFRY_MOST_TIMEOUT = "${floor(var.push_deadline * 9 / 10)}s" } : {}

  # In mode idle all know that the tick ends when nothing is due.
  idle_settings = var.tick.mode != "idle" ? {} : merge(
    { BELFRY_TICK_IDLE = "1m" },
    var.tick.sleep_seconds > 0 ? { BELFRY_TICK_SLEEP = "${var.tick.sleep_seconds}s" } : {},
  )
  economy_settings = var.tick.mode == "economy" ? { BELFRY_ECONOMY = "true" } : {}
  # API and workers wake it.
  wake_settings = var.tick.mode == "idle" ? { BELFRY_TICK_WAKE = "gcppubsubv2://projects/${var.project}/topics/${google_pubsub_topic.wake[0].name}" } : {}

  settings = merge(
    local.database_settings, local.idle_settings,
    local.max_timeout,
    var.webhooks && length(var.webhook_allow) > 0 ? { BELFRY_WEBHOOK_ALLOW = join(",", var.webhook_allow) } : {},
    var.environment,
  )

  # Connections that the programs may open at once, all instances of all services together.
  connections = (
    var.api.max_instances * var.api.pool
    + local.tick_instances * var.tick.pool
    + sum([for w in values(local.pushed) : w.max_instances * w.pool])
    + (var.worker_long == null ? 0 : var.worker_long.instances * var.worker_long.pool)
  )
}

resource "google_project_service" "this" {
  for_each = var.enable_apis ? toset([
    "run.googleapis.com", "pubsub.googleapis.com", "sqladmin.googleapis.com", "secretmanager.googleapis.com",
    "cloudscheduler.googleapis.com", "monitoring.googleapis.com", "logging.googleapis.com",
  ]) : []

  project            = var.project
  service            = each.value
  disable_on_destroy = false
}

# Says what does not fit together before anything is made.
resource "terraform_data" "checks" {
  lifecycle {
    precondition {
      condition     = (var.database == null) != (var.existing_database == null)
      error_message = "Set exactly one of database and existing_database: database = null where existing_database is set."
    }
    precondition {
      condition     = local.connections + 10 <= local.max_connections
      error_message = "The services may open ${local.connections} connections and 10 are kept for you and the server, but the database allows ${local.max_connections}. Lower max_instances or pool of api and workers, or choose a larger database.tier (or set max_connections)."
    }
    precondition {
      condition     = var.worker_long == null || var.images.worker_long != null
      error_message = "worker_long needs images.worker_long."
    }
    precondition {
      condition     = var.existing_database != null || try(var.database.max_connections, null) != null || contains(keys(local.tier_connections), try(var.database.tier, ""))
      error_message = "The module does not know how many connections the tier ${try(var.database.tier, "")} allows: set database.max_connections."
    }
    precondition {
      condition     = tonumber(var.tick.cpu) >= 1 || endswith(var.tick.memory, "Mi") && try(tonumber(trimsuffix(var.tick.memory, "Mi")) <= 512, false)
      error_message = "tick.memory must be at most 512Mi with less than one CPU."
    }
  }
}
