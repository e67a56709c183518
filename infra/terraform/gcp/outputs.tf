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
