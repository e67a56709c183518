# Alerts: what they look at, from when on, and whom they reach. The tick writes a line "state" each minute; its numbers become metrics.

resource "google_monitoring_notification_channel" "email" {
  for_each = toset(var.alert_emails)

  project      = var.project
  display_name = "${var.name}: ${each.value}"
  type         = "email"
  labels       = { email_address = each.value }

  depends_on = [google_project_service.this]
}

locals {
  channels = concat([for c in google_monitoring_notification_channel.email : c.id], var.notification_channels)

  tick_log   = "resource.type=\"cloud_run_revision\" resource.labels.service_name=\"${google_cloud_run_v2_service.tick.name}\""
  state_line = "${local.tick_log} jsonPayload.message=\"state\""

  # Numbers of the line that become metrics, with the unit of each.
  state_metrics = {
    oldest_due_seconds_critical = { unit = "s", description = "How long the oldest due critical job has been due." }
    oldest_due_seconds_default  = { unit = "s", description = "How long the oldest due default job has been due." }
    oldest_due_seconds_bulk     = { unit = "s", description = "How long the oldest due bulk job has been due." }
    oldest_due_schedule_seconds = { unit = "s", description = "How long the most overdue schedule has been due." }
    dead_letters                = { unit = "1", description = "Dead letters." }
    due                         = { unit = "1", description = "Jobs that are due and have not started." }
    running                     = { unit = "1", description = "Jobs that run." }
    stuck                       = { unit = "1", description = "Running jobs whose lease has passed." }
    unhandled                   = { unit = "1", description = "Due jobs of types that no worker handles." }
    open_alerts                 = { unit = "1", description = "Alerts that are not cleared." }
  }

  log_metric = { for m in keys(local.state_metrics) : m => "metric.type=\"logging.googleapis.com/user/${google_logging_metric.state[m].name}\" resource.type=\"cloud_run_revision\"" }
  services   = "resource.type=\"cloud_run_revision\" resource.labels.service_name=monitoring.regex.full_match(\"${var.name}-(api|tick|worker-[a-z]+)\")"
  database   = local.made ? "resource.type=\"cloudsql_database\" resource.labels.database_id=\"${var.project}:${google_sql_database_instance.this[0].name}\"" : ""
  queues     = "resource.type=\"pubsub_subscription\" resource.labels.subscription_id=monitoring.regex.full_match(\"${var.name}-(critical|default|bulk)\")"
  dead       = "resource.type=\"pubsub_subscription\" resource.labels.subscription_id=monitoring.regex.full_match(\"${var.name}-(critical|default|bulk)-dead\")"

  # A job that waits: bulk jobs may, for a quarter of an hour.
  late = {
    for p, seconds in { critical = 60, default = 60, bulk = 900 } : "oldest-due-${p}" => {
      title                      = "Jobs start late: ${p}"
      filter                     = local.log_metric["oldest_due_seconds_${p}"]
      above                      = seconds + (var.tick.mode == "economy" ? 120 : var.tick.sleep_seconds)
      duration                   = "300s"
      period                     = "60s"
      aligner                    = "ALIGN_PERCENTILE_99"
      reducer                    = "REDUCE_MAX"
      text                       = "A ${p} job has been due for longer than it should. Look at the workers' instances (their limit may be reached), and at `belfry doctor`."
    }
  }

  thresholds = merge(
    local.late,
    {
      schedules = {
        title    = "Schedules are overdue"
        filter   = local.log_metric["oldest_due_schedule_seconds"]
        above    = 60 + (var.tick.mode == "economy" ? 120 : var.tick.sleep_seconds)
        duration = "300s"
        period   = "60s"
        aligner  = "ALIGN_PERCENTILE_99"
        reducer  = "REDUCE_MAX"
        text     = "A schedule has been due for longer than it should. `belfry doctor` names it."
      }
      open-alerts = {
        title    = "Belfry raised an alert"
        filter   = local.log_metric["open_alerts"]
        above    = 0
        duration = "0s"
        period   = "300s"
        aligner  = "ALIGN_PERCENTILE_99"
        reducer  = "REDUCE_MAX"
        text     = "A schedule or type had no success in time, or jobs failed for good. `belfry alerts list` names what."
      }
      dead-letters = {
        title    = "Jobs failed for good"
        filter   = local.log_metric["dead_letters"]
        above    = 0
        duration = "0s"
        period   = "300s"
        aligner  = "ALIGN_PERCENTILE_99"
        reducer  = "REDUCE_MAX"
        text     = "There are dead letters. `belfry dead-letters groups` shows their errors; redrive or discard them."
      }
      stuck = {
        title    = "Jobs are not taken back from lost workers"
        filter   = local.log_metric["stuck"]
        above    = 0
        duration = "300s"
        period   = "60s"
        aligner  = "ALIGN_PERCENTILE_99"
        reducer  = "REDUCE_MAX"
        text     = "Leases have passed and the tick did not take the jobs back. Look at the tick's log."
      }
      unhandled = {
        title    = "A type has jobs and no worker"
        filter   = local.log_metric["unhandled"]
        above    = 0
        duration = "300s"
        period   = "60s"
        aligner  = "ALIGN_PERCENTILE_99"
        reducer  = "REDUCE_MAX"
        text     = "Jobs of a type wait and no worker has a handler for it. `belfry doctor` names the type."
      }
      errors = {
        title    = "A service answers with errors"
        filter   = "${local.services} metric.type=\"run.googleapis.com/request_count\" metric.labels.response_code_class=\"5xx\""
        above    = 5
        duration = "0s"
        period   = "300s"
        aligner  = "ALIGN_DELTA"
        reducer  = "REDUCE_SUM"
        text     = "More than five requests in five minutes were answered with 5xx. The service's log says why."
      }
      throttles = {
        title    = "A service is at its limit of instances"
        filter   = "${local.services} metric.type=\"run.googleapis.com/request_count\" metric.labels.response_code=\"429\""
        above    = 0
        duration = "300s"
        period   = "60s"
        aligner  = "ALIGN_DELTA"
        reducer  = "REDUCE_SUM"
        text     = "Cloud Run refused requests because no instance was free. Raise max_instances, or concurrency, of the service."
      }
      queue-age = {
        title    = "Messages wait in a queue"
        filter   = "${local.queues} metric.type=\"pubsub.googleapis.com/subscription/oldest_unacked_message_age\""
        above    = var.push_deadline + 120
        duration = "300s"
        period   = "60s"
        aligner  = "ALIGN_MAX"
        reducer  = "REDUCE_MAX"
        text     = "A message has been unacknowledged for longer than a job may take. The workers are down or at their limit."
      }
      queue-dead-letters = {
        title    = "A queue has dead letters"
        filter   = "${local.dead} metric.type=\"pubsub.googleapis.com/subscription/num_undelivered_messages\""
        above    = 0
        duration = "0s"
        period   = "300s"
        aligner  = "ALIGN_MAX"
        reducer  = "REDUCE_MAX"
        text     = "No worker could read a message: it is a stranger's, damaged, or of a newer version. Look at one, then delete them; no job is lost with them."
      }
    },
    local.made ? {
      database-connections = {
        title    = "The database runs out of connections"
        filter   = "${local.database} metric.type=\"cloudsql.googleapis.com/database/postgresql/num_backends\""
        above    = floor(local.max_connections * 0.85)
        duration = "300s"
        period   = "60s"
        aligner  = "ALIGN_MAX"
        reducer  = "REDUCE_SUM"
        text     = "More than 85 % of ${local.max_connections} connections are open. Lower the pools or max_instances, or choose a larger tier."
      }
      database-cpu = {
        title    = "The database is busy"
        filter   = "${local.database} metric.type=\"cloudsql.googleapis.com/database/cpu/utilization\""
        above    = 0.9
        duration = "900s"
        period   = "60s"
        aligner  = "ALIGN_MEAN"
        reducer  = "REDUCE_MAX"
        text     = "The database's CPU has been above 90 % for a quarter of an hour. Choose a larger tier."
      }
      database-storage = {
        title    = "The database's disk is filling up"
        filter   = "${local.database} metric.type=\"cloudsql.googleapis.com/database/disk/utilization\""
        above    = 0.9
        duration = "900s"
        period   = "300s"
        aligner  = "ALIGN_MAX"
        reducer  = "REDUCE_MAX"
        text     = "The disk is above 90 % although it grows by itself. Look for what holds space: dead letters, history, a long transaction."
      }
    } : {},
  )
}

resource "google_logging_metric" "state" {
  for_each = local.state_metrics

  project         = var.project
  name            = "${var.name}/${each.key}"
  description     = each.value.description
  filter          = local.state_line
  value_extractor = "EXTRACT(jsonPayload.${each.key})"

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = "DISTRIBUTION"
    unit        = each.value.unit
  }

  bucket_options {
    exponential_buckets {
      num_finite_buckets = 48
      growth_factor      = 1.6
      scale              = 1
    }
  }
}

# A tick that leaves the database alone says so instead of the state.
resource "google_logging_metric" "ticks" {
  project     = var.project
  name        = "${var.name}/ticks"
  description = "Records of the tick."
  filter      = "${local.tick_log} jsonPayload.message=(\"state\" OR \"asleep\")"

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = "INT64"
    unit        = "1"
  }
}

resource "google_monitoring_alert_policy" "threshold" {
  for_each = local.thresholds

  project               = var.project
  display_name          = "${var.name}: ${each.value.title}"
  combiner              = "OR"
  notification_channels = local.channels
  user_labels           = local.labels

  conditions {
    display_name = each.value.title
    condition_threshold {
      filter          = each.value.filter
      comparison      = "COMPARISON_GT"
      threshold_value = each.value.above
      duration        = each.value.duration
      aggregations {
        alignment_period     = each.value.period
        per_series_aligner   = each.value.aligner
        cross_series_reducer = each.value.reducer
      }
      trigger {
        count = 1
      }
    }
  }

  documentation {
    content   = each.value.text
    mime_type = "text/markdown"
  }

  lifecycle {
    precondition {
      condition     = length(local.channels) > 0
      error_message = "Alerts would reach nobody: set alert_emails or notification_channels."
    }
  }
}

# The line is missing: no tick runs, whatever the reason.
resource "google_monitoring_alert_policy" "tick_silent" {
  project               = var.project
  display_name          = "${var.name}: The tick is silent"
  combiner              = "OR"
  notification_channels = local.channels
  user_labels           = local.labels
  severity              = "CRITICAL"

  conditions {
    display_name = "The tick is silent"
    condition_absent {
      filter   = "metric.type=\"logging.googleapis.com/user/${google_logging_metric.ticks.name}\" resource.type=\"cloud_run_revision\""
      duration = "300s"
      aggregations {
        alignment_period     = "60s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_SUM"
      }
    }
  }

  documentation {
    content   = "No tick has run for five minutes, so no job that is due later starts. Look at the tick's log and at its scheduler jobs (`gcloud scheduler jobs list`)."
    mime_type = "text/markdown"
  }
}
