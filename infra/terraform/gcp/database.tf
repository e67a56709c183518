# The database: a Cloud SQL instance that is made here, or one that is there.

locals {
  # Cloud SQL's own limit of connections by memory, for tiers that small installations use.
  tier_connections = {
    "db-f1-micro"       = 25
    "db-g1-small"       = 50
    "db-custom-1-3840"  = 100
    "db-custom-2-7680"  = 400
    "db-custom-2-8192"  = 400
    "db-custom-4-15360" = 500
    "db-custom-8-30720" = 800
  }
  max_connections = var.existing_database != null ? var.existing_database.max_connections : coalesce(
    try(var.database.max_connections, null), lookup(local.tier_connections, try(var.database.tier, ""), 25)
  )

  made     = var.database != null
  cloudsql = local.made || try(var.existing_database.cloudsql_instance, null) != null
  instance = local.made ? google_sql_database_instance.this[0].connection_name : try(var.existing_database.cloudsql_instance, null)
  reach    = var.network == null ? "public" : "private"

  # Programs but the migrations sign in at the instance that is made as their own service accounts. A database that is there is reached by its URL.
  database_settings = merge(
    !local.cloudsql ? {} : { BELFRY_CLOUDSQL_INSTANCE = local.instance, BELFRY_CLOUDSQL_IP = local.reach },
    local.made ? { BELFRY_CLOUDSQL_IAM = "true" } : {},
  )

  # The user of a service account is its address without .gserviceaccount.com.
  database_user = { for f, account in local.accounts : f => trimsuffix(account.email, ".gserviceaccount.com") }
  database_url = {
    for f in keys(local.accounts) : f => local.made ? join("", [
      "postgres://${urlencode(local.database_user[f])}@cloudsql/${google_sql_database.this[0].name}",
      f == "tick" ? "?options=-c%20role%3Dbelfry_owner" : "", # the tick makes and drops partitions, which belong to the owner
    ]) : null
  }
}

resource "google_sql_database_instance" "this" {
  count = local.made ? 1 : 0

  project             = var.project
  name                = var.name
  region              = var.region
  database_version    = var.database.version
  deletion_protection = var.deletion_protection

  settings {
    tier                        = var.database.tier
    edition                     = var.database.edition
    availability_type           = var.database.high_availability ? "REGIONAL" : "ZONAL"
    disk_size                   = var.database.disk_gb
    disk_type                   = "PD_SSD"
    disk_autoresize             = true
    deletion_protection_enabled = var.deletion_protection
    user_labels                 = local.labels

    # Callers are Google's connector, which brings a client certificate and an identity of IAM; no network is authorized.
    ip_configuration {
      ipv4_enabled    = var.network == null
      private_network = try(var.network.network, null)
      ssl_mode        = "TRUSTED_CLIENT_CERTIFICATE_REQUIRED"
    }

    backup_configuration {
      enabled                        = true
      point_in_time_recovery_enabled = true
      transaction_log_retention_days = min(7, var.database.backups_retained)
      backup_retention_settings {
        retained_backups = var.database.backups_retained
      }
    }

    insights_config {
      query_insights_enabled = true
    }

    database_flags {
      name  = "cloudsql.iam_authentication"
      value = "on"
    }

    dynamic "database_flags" {
      for_each = var.database.max_connections == null ? [] : [var.database.max_connections]
      content {
        name  = "max_connections"
        value = tostring(database_flags.value)
      }
    }
  }

  lifecycle {
    # Storage grows by itself; a plan must not shrink it.
    ignore_changes = [settings[0].disk_size]
  }

  depends_on = [google_project_service.this, terraform_data.checks]
}

resource "google_sql_database" "this" {
  count = local.made ? 1 : 0

  project  = var.project
  name     = "belfry"
  instance = google_sql_database_instance.this[0].name
}

# One database user per program: its service account, without a password.
resource "google_sql_user" "program" {
  for_each = local.made ? local.accounts : {}

  project  = var.project
  instance = google_sql_database_instance.this[0].name
  name     = local.database_user[each.key]
  type     = "CLOUD_IAM_SERVICE_ACCOUNT"
}

# Users of IAM are given no right to create a schema, so the migrations sign in with a password. It is made here, and only
# Secret Manager and the database keep it.
ephemeral "random_password" "migrator" {
  length  = 40
  special = false
}

resource "google_sql_user" "migrator" {
  count = local.made ? 1 : 0

  project             = var.project
  instance            = google_sql_database_instance.this[0].name
  name                = "belfry-migrator"
  password_wo         = ephemeral.random_password.migrator.result
  password_wo_version = var.migrator_password_version
}

resource "google_secret_manager_secret" "migrate_url" {
  count = local.made ? 1 : 0

  project   = var.project
  secret_id = "${var.name}-migrate-url"
  labels    = local.labels

  replication {
    auto {}
  }

  depends_on = [google_project_service.this]
}

resource "google_secret_manager_secret_version" "migrate_url" {
  count = local.made ? 1 : 0

  secret                 = google_secret_manager_secret.migrate_url[0].id
  secret_data_wo         = "postgres://${google_sql_user.migrator[0].name}:${ephemeral.random_password.migrator.result}@cloudsql/${google_sql_database.this[0].name}"
  secret_data_wo_version = var.migrator_password_version
}

resource "google_project_iam_member" "cloudsql_client" {
  for_each = local.cloudsql ? local.accounts : {}

  project = var.project
  role    = "roles/cloudsql.client"
  member  = each.value.member
}

resource "google_project_iam_member" "cloudsql_user" {
  for_each = local.made ? { for f, account in local.accounts : f => account if f != "migrate" } : {}

  project = var.project
  role    = "roles/cloudsql.instanceUser"
  member  = each.value.member
}

resource "google_secret_manager_secret_iam_member" "existing_url" {
  for_each = var.existing_database == null ? {} : { for f, account in local.accounts : f => account if f != "migrate" || var.existing_database.migrate_url_secret == null }

  secret_id = var.existing_database.url_secret
  role      = "roles/secretmanager.secretAccessor"
  member    = each.value.member
}
