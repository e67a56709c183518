# The migrations: their identity, their rights, their code, and the run that comes before the other programs change.

resource "google_service_account" "migrate" {
  project      = var.project
  account_id   = "${var.name}-migrate"
  display_name = "Belfry migrations"
}

locals {
  migrate_url = local.made ? {
    secret = google_secret_manager_secret_version.migrate_url[0].secret, version = google_secret_manager_secret_version.migrate_url[0].version
    } : {
    secret  = coalesce(var.existing_database.migrate_url_secret, var.existing_database.url_secret)
    version = "latest"
  }
  migrate_settings = merge(
    !local.cloudsql ? {} : { BELFRY_CLOUDSQL_INSTANCE = local.instance, BELFRY_CLOUDSQL_IP = local.reach },
    # After the migrations each program's user gets the rights that the program needs, and no more.
    local.made ? { BELFRY_DEPLOY_MEMBERS = join(",", [for f, user in local.database_user : "${f == "worker_long" ? "worker" : f}=${user}" if f != "migrate"]) } : {},
    { BELFRY_DEPLOY_ADMIN_TOKEN_SECRET = google_secret_manager_secret.admin_token.id },
    var.webhooks ? { BELFRY_DEPLOY_WEBHOOK_SECRETS_SECRET = google_secret_manager_secret.webhook[0].id } : {},
  )
  migrate_command = "gcloud run jobs execute ${google_cloud_run_v2_job.migrate.name} --project ${var.project} --region ${var.region} --wait"
}

resource "google_secret_manager_secret_iam_member" "migrate_url" {
  count = local.made || try(var.existing_database.migrate_url_secret, null) != null ? 1 : 0

  secret_id = local.migrate_url.secret
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.migrate.member
}

# It makes the secrets that are still empty, and keeps the old signing secret beside a new one.
resource "google_secret_manager_secret_iam_member" "migrate_makes" {
  for_each = local.made_secrets

  project   = var.project
  secret_id = each.value.secret_id
  role      = "roles/secretmanager.secretVersionAdder"
  member    = google_service_account.migrate.member
}

resource "google_secret_manager_secret_iam_member" "migrate_reads" {
  for_each = local.made_secrets

  project   = var.project
  secret_id = each.value.secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.migrate.member
}

# To tell a secret without a version from one that is not there.
resource "google_secret_manager_secret_iam_member" "migrate_sees" {
  for_each = local.made_secrets

  project   = var.project
  secret_id = each.value.secret_id
  role      = "roles/secretmanager.viewer"
  member    = google_service_account.migrate.member
}

resource "google_cloud_run_v2_job" "migrate" {
  project             = var.project
  name                = "${var.name}-migrate"
  location            = var.region
  labels              = local.labels
  deletion_protection = var.deletion_protection

  template {
    template {
      service_account = google_service_account.migrate.email
      max_retries     = 1
      timeout         = "3600s"

      containers {
        image = var.images.migrate

        dynamic "env" {
          for_each = local.migrate_settings
          content {
            name  = env.key
            value = env.value
          }
        }

        env {
          name = "BELFRY_DATABASE_URL"
          value_source {
            secret_key_ref {
              secret  = local.migrate_url.secret
              version = local.migrate_url.version
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
  }

  depends_on = [
    google_secret_manager_secret_iam_member.migrate_url, google_secret_manager_secret_iam_member.existing_url, google_project_iam_member.cloudsql_client,
    google_sql_user.program, google_sql_database.this, terraform_data.checks, google_secret_manager_secret_iam_member.migrate_makes,
    google_secret_manager_secret_iam_member.migrate_reads, google_secret_manager_secret_iam_member.migrate_sees,
  ]
}

# Runs once per image of the migrations, before the services of the same apply. The provider cannot run a job, so gcloud does.
resource "terraform_data" "migrated" {
  triggers_replace = [var.images.migrate, local.instance]

  provisioner "local-exec" {
    command = var.run_migrations ? local.migrate_command : "true"
  }

  depends_on = [google_cloud_run_v2_job.migrate]
}
