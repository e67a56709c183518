# What is made, under which names, in each variant.

mock_provider "google" {
  mock_data "google_project" {
    defaults = { number = "123456789012" }
  }
  mock_resource "google_service_account" {
    defaults = {
      email  = "belfry-x@my-project.iam.gserviceaccount.com"
      member = "serviceAccount:belfry-x@my-project.iam.gserviceaccount.com"
      name   = "projects/my-project/serviceAccounts/belfry-x@my-project.iam.gserviceaccount.com"
    }
  }
  mock_resource "google_sql_database_instance" {
    defaults = { connection_name = "my-project:europe-west1:belfry" }
  }
  mock_resource "google_cloud_run_v2_service" {
    defaults = { uri = "https://belfry.example.run.app" }
  }
}

variables {
  project        = "my-project"
  region         = "europe-west1"
  alert_emails   = ["on-call@example.org"]
  run_migrations = false
  images = {
    api         = "europe-west1-docker.pkg.dev/my-project/belfry/api:v1"
    tick        = "europe-west1-docker.pkg.dev/my-project/belfry/tick:v1"
    worker      = "europe-west1-docker.pkg.dev/my-project/belfry/worker:v1"
    migrate     = "europe-west1-docker.pkg.dev/my-project/belfry/migrate:v1"
    worker_long = "europe-west1-docker.pkg.dev/my-project/belfry/worker_long:v1"
  }
}

run "plain" {
  assert {
    condition     = toset([for s in google_cloud_run_v2_service.worker : s.name]) == toset(["belfry-worker-critical", "belfry-worker-default", "belfry-worker-bulk"])
    error_message = "each priority has a worker"
  }
  assert {
    condition     = toset([for j in google_cloud_scheduler_job.tick : j.schedule]) == toset(["*/2 * * * *", "1-59/2 * * * *"])
    error_message = "two scheduler jobs take turns"
  }
  assert {
    condition     = alltrue([for j in google_cloud_scheduler_job.tick : one(j.retry_config).retry_count == 0])
    error_message = "a tick that failed is not repeated"
  }
  assert {
    condition     = alltrue([for s in google_pubsub_subscription.queue : one(s.expiration_policy).ttl == "" && s.ack_deadline_seconds == 600 && length(s.dead_letter_policy) == 1])
    error_message = "subscriptions never expire, wait as long as a push may take, and have dead letters"
  }
  assert {
    condition     = alltrue([for s in google_cloud_run_v2_service.worker : s.ingress == "INGRESS_TRAFFIC_INTERNAL_ONLY" && one(s.template).timeout == "600s"])
    error_message = "workers are internal, and a request may take as long as the push"
  }
  assert {
    condition     = one(google_cloud_run_v2_service.tick.template).timeout == "180s" && google_cloud_run_v2_service.tick.ingress == "INGRESS_TRAFFIC_INTERNAL_ONLY"
    error_message = "the tick is internal, and a request may take longer than a call"
  }
  assert {
    condition     = google_cloud_run_v2_service_iam_member.api_public[0].member == "allUsers"
    error_message = "the API is public"
  }
  assert {
    condition     = one(google_sql_database_instance.this[0].settings).edition == "ENTERPRISE" && one(one(google_sql_database_instance.this[0].settings).ip_configuration).ssl_mode == "TRUSTED_CLIENT_CERTIFICATE_REQUIRED"
    error_message = "the edition is explicit, and only Google's connector gets in"
  }
  assert {
    condition     = one([for e in one(one(google_cloud_run_v2_service.api.template).containers).env : e.value if e.name == "BELFRY_DATABASE_URL"]) == "postgres://belfry-x%40my-project.iam@cloudsql/belfry"
    error_message = "programs sign in as their service accounts"
  }
  assert {
    condition     = endswith(one([for e in one(one(google_cloud_run_v2_service.tick.template).containers).env : e.value if e.name == "BELFRY_DATABASE_URL"]), "?options=-c%20role%3Dbelfry_owner")
    error_message = "the tick acts as the owner"
  }
  assert {
    condition     = one([for e in one(one(one(google_cloud_run_v2_job.migrate.template).template).containers).env : e.value if e.name == "BELFRY_DEPLOY_MEMBERS"]) == "api=belfry-x@my-project.iam,tick=belfry-x@my-project.iam,worker=belfry-x@my-project.iam"
    error_message = "each program's user gets its rights"
  }
  assert {
    condition     = one([for e in one(one(google_cloud_run_v2_service.api.template).containers).env : e.value if e.name == "BELFRY_MOST_TIMEOUT"]) == "540s"
    error_message = "no job may take longer than a push allows"
  }
  assert {
    condition     = length(google_cloud_run_v2_worker_pool.worker_long) == 0 && length(google_billing_budget.this) == 0
    error_message = "no pool and no budget unless asked for"
  }
  assert {
    condition     = alltrue([for p in google_monitoring_alert_policy.threshold : length(p.notification_channels) > 0]) && length(google_monitoring_alert_policy.tick_silent.notification_channels) > 0
    error_message = "every alert reaches somebody"
  }
  assert {
    condition     = output.admin_token_command == "gcloud secrets versions access latest --project my-project --secret belfry-admin-token"
    error_message = "the admin token's command"
  }
}

run "economy" {
  variables {
    tick = { mode = "economy" }
  }
  assert {
    condition     = [for j in google_cloud_scheduler_job.tick : j.schedule] == ["* * * * *"]
    error_message = "one scheduler job, each minute"
  }
  assert {
    condition     = alltrue([for s in [google_cloud_run_v2_service.api, google_cloud_run_v2_service.tick] : contains([for e in one(one(s.template).containers).env : e.value if e.name == "BELFRY_ECONOMY"], "true")])
    error_message = "tick and API know of it"
  }
}

run "woken" {
  assert {
    condition     = length(google_pubsub_topic.wake) == 1 && one(google_pubsub_subscription.wake[0].push_config).push_endpoint == "https://belfry.example.run.app/tick"
    error_message = "a topic is pushed to the tick"
  }
  assert {
    condition     = alltrue([for s in concat([google_cloud_run_v2_service.api], values(google_cloud_run_v2_service.worker)) : contains([for e in one(one(s.template).containers).env : e.value if e.name == "BELFRY_TICK_WAKE"], "gcppubsubv2://projects/my-project/topics/belfry-wake")])
    error_message = "API and workers wake it"
  }
}

run "loop" {
  variables {
    tick = { mode = "loop" }
  }
  assert {
    condition     = length(google_pubsub_topic.wake) == 0 && length([for e in one(one(google_cloud_run_v2_service.tick.template).containers).env : e if startswith(e.name, "BELFRY_TICK_IDLE")]) == 0
    error_message = "nobody needs to wake it"
  }
}

run "long_jobs" {
  variables {
    worker_long = { priority = "bulk" }
  }
  assert {
    condition     = !contains(keys(google_cloud_run_v2_service.worker), "bulk") && length(google_pubsub_subscription.queue["bulk"].push_config) == 0
    error_message = "the pool's priority is pulled, not pushed"
  }
  assert {
    condition     = google_pubsub_subscription_iam_member.worker_long[0].subscription == google_pubsub_subscription.queue["bulk"].name
    error_message = "the pool may receive from its own subscription"
  }
  assert {
    condition     = length([for e in one(one(google_cloud_run_v2_service.api.template).containers).env : e if e.name == "BELFRY_MOST_TIMEOUT"]) == 0
    error_message = "jobs may be long"
  }
}

run "private" {
  variables {
    network = { network = "projects/my-project/global/networks/vpc", subnetwork = "projects/my-project/regions/europe-west1/subnetworks/a" }
  }
  assert {
    condition     = !one(one(google_sql_database_instance.this[0].settings).ip_configuration).ipv4_enabled
    error_message = "the database has no public address"
  }
  assert {
    condition     = alltrue([for s in concat([google_cloud_run_v2_service.api, google_cloud_run_v2_service.tick], values(google_cloud_run_v2_service.worker)) : one(one(s.template).vpc_access).egress == "PRIVATE_RANGES_ONLY"])
    error_message = "only private addresses go through the network"
  }
}

run "existing_database" {
  variables {
    database          = null
    existing_database = { url_secret = "projects/my-project/secrets/belfry-url", max_connections = 200 }
  }
  assert {
    condition     = length(google_sql_database_instance.this) == 0 && length(google_sql_user.migrator) == 0
    error_message = "no database is made"
  }
  assert {
    condition     = length(google_secret_manager_secret_iam_member.existing_url) == 4
    error_message = "all programs may read its URL"
  }
  assert {
    condition     = length([for e in one(one(google_cloud_run_v2_service.api.template).containers).env : e if e.name == "BELFRY_DATABASE_URL" && length(e.value_source) == 1]) == 1
    error_message = "the URL comes from the secret"
  }
}

run "no_webhooks" {
  variables {
    webhooks = false
  }
  assert {
    condition     = length(google_secret_manager_secret.webhook) == 0 && output.webhook_secret_command == null
    error_message = "no signing secret"
  }
}

run "private_api" {
  variables {
    api = { public = false }
  }
  assert {
    condition     = length(google_cloud_run_v2_service_iam_member.api_public) == 0
    error_message = "IAM guards it"
  }
}
