# The dashboard: are jobs on time, what waits, what fails, and what the database has left.

locals {
  dashboard_charts = concat(
    [
      { title = "Oldest due job (s)", filter = local.log_metric["oldest_due_seconds_critical"], aligner = "ALIGN_PERCENTILE_99", reducer = "REDUCE_MAX", by = [], also = local.log_metric["oldest_due_seconds_default"] },
      { title = "Jobs due and running", filter = local.log_metric["due"], aligner = "ALIGN_PERCENTILE_99", reducer = "REDUCE_MAX", by = [], also = local.log_metric["running"] },
      { title = "Dead letters", filter = local.log_metric["dead_letters"], aligner = "ALIGN_PERCENTILE_99", reducer = "REDUCE_MAX", by = [] },
      { title = "Requests by service and answer", filter = "${local.services} metric.type=\"run.googleapis.com/request_count\"", aligner = "ALIGN_RATE", reducer = "REDUCE_SUM", by = ["resource.label.service_name", "metric.label.response_code_class"] },
      { title = "Instances by service", filter = "${local.services} metric.type=\"run.googleapis.com/container/instance_count\"", aligner = "ALIGN_MAX", reducer = "REDUCE_SUM", by = ["resource.label.service_name"] },
      { title = "Oldest message by queue (s)", filter = "${local.queues} metric.type=\"pubsub.googleapis.com/subscription/oldest_unacked_message_age\"", aligner = "ALIGN_MAX", reducer = "REDUCE_MAX", by = ["resource.label.subscription_id"] },
    ],
    local.made ? [
      { title = "Database connections", filter = "${local.database} metric.type=\"cloudsql.googleapis.com/database/postgresql/num_backends\"", aligner = "ALIGN_MAX", reducer = "REDUCE_SUM", by = [] },
      { title = "Database CPU", filter = "${local.database} metric.type=\"cloudsql.googleapis.com/database/cpu/utilization\"", aligner = "ALIGN_MEAN", reducer = "REDUCE_MAX", by = [] },
    ] : [],
  )
}

resource "google_monitoring_dashboard" "this" {
  project = var.project

  dashboard_json = jsonencode({
    displayName = var.name
    mosaicLayout = {
      columns = 48
      tiles = [
        for i, chart in local.dashboard_charts : {
          xPos   = i % 2 * 24
          yPos   = floor(i / 2) * 16
          width  = 24
          height = 16
          widget = {
            title = chart.title
            xyChart = {
              dataSets = [
                for filter in compact([chart.filter, try(chart.also, "")]) : {
                  plotType   = "LINE"
                  targetAxis = "Y1"
                  timeSeriesQuery = {
                    timeSeriesFilter = {
                      filter = filter
                      aggregation = {
                        alignmentPeriod    = "60s"
                        perSeriesAligner   = chart.aligner
                        crossSeriesReducer = chart.reducer
                        groupByFields      = chart.by
                      }
                    }
                  }
                }
              ]
              yAxis = { scale = "LINEAR" }
            }
          }
        }
      ]
    }
  })

  depends_on = [google_project_service.this]
}
