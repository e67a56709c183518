output "api_url" {
  description = "URL of the API."
  value       = google_cloud_run_v2_service.api.uri
}

output "admin_token_command" {
  description = "Prints the admin token."
  value       = "gcloud secrets versions access latest --project ${var.project} --secret ${google_secret_manager_secret.admin_token.secret_id}"
}

output "webhook_secret_command" {
  description = "Prints the webhook signing secret, which receivers verify with. null without webhooks."
  value       = var.webhooks ? "gcloud secrets versions access latest --project ${var.project} --secret ${google_secret_manager_secret.webhook[0].secret_id}" : null
}

output "migrate_command" {
  description = "Runs the migrations. An apply with a new images.migrate does it by itself, unless run_migrations is false."
  value       = local.migrate_command
}

output "topics" {
  description = "Pub/Sub topic of each priority."
  value       = { for p in local.priorities : p => google_pubsub_topic.queue[p].id }
}

output "dead_letter_subscriptions" {
  description = "Subscription of each priority's dead letters: messages that no worker could read."
  value       = { for p in local.priorities : p => google_pubsub_subscription.dead[p].id }
}

output "service_accounts" {
  description = "Address of each program's service account."
  value       = { for f, account in local.accounts : f => account.email }
}

output "database_instance" {
  description = "Connection name of the Cloud SQL instance. null where another database is used by its URL."
  value       = local.instance
}

output "dashboard_url" {
  description = "The dashboard in Cloud Monitoring."
  value       = "https://console.cloud.google.com/monitoring/dashboards/builder/${reverse(split("/", google_monitoring_dashboard.this.id))[0]}?project=${var.project}"
}

output "connections" {
  description = "Connections that the programs may open, and what the database allows."
  value       = { programs = local.connections, database = local.max_connections }
}

output "deployment" {
  description = "What `belfry doctor --deployment` looks at: names of services and queues, and the roles that accounts need."
  value = {
    cloud   = "gcp"
    project = var.project
    region  = var.region
    services = merge(
      { api = google_cloud_run_v2_service.api.name, tick = google_cloud_run_v2_service.tick.name },
      { for p, s in google_cloud_run_v2_service.worker : "worker_${p}" => s.name },
    )
    scheduler_jobs     = [for j in google_cloud_scheduler_job.tick : j.name]
    subscriptions      = { for p in local.priorities : p => google_pubsub_subscription.queue[p].name }
    dead_subscriptions = { for p in local.priorities : p => google_pubsub_subscription.dead[p].name }
    database           = local.made ? google_sql_database_instance.this[0].name : null
    rights = concat(
      [for m in google_pubsub_topic_iam_member.api_publisher : { on = "topic", name = m.topic, role = m.role, member = m.member }],
      [for m in google_pubsub_topic_iam_member.tick_publisher : { on = "topic", name = m.topic, role = m.role, member = m.member }],
      [for m in google_pubsub_topic_iam_member.dead_publisher : { on = "topic", name = m.topic, role = m.role, member = m.member }],
      [for m in concat(google_pubsub_topic_iam_member.api_wake, google_pubsub_topic_iam_member.worker_wake) : { on = "topic", name = m.topic, role = m.role, member = m.member }],
      [for m in google_pubsub_subscription_iam_member.dead_subscriber : { on = "subscription", name = m.subscription, role = m.role, member = m.member }],
      [for m in google_cloud_run_v2_service_iam_member.push : { on = "service", name = m.name, role = m.role, member = m.member }],
      [for m in [google_cloud_run_v2_service_iam_member.scheduler] : { on = "service", name = m.name, role = m.role, member = m.member }],
      [for m in google_project_iam_member.cloudsql_client : { on = "project", name = m.project, role = m.role, member = m.member }],
      [for m in google_project_iam_member.cloudsql_user : { on = "project", name = m.project, role = m.role, member = m.member }],
      [for m in google_secret_manager_secret_iam_member.migrate_makes : { on = "secret", name = m.secret_id, role = m.role, member = m.member }],
      [for m in google_secret_manager_secret_iam_member.migrate_reads : { on = "secret", name = m.secret_id, role = m.role, member = m.member }],
    )
  }
}
