variable "project" {
  description = "Id of the project that everything is made in."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project))
    error_message = "project must be a project id such as my-project-123, not its name or number."
  }
}

variable "region" {
  description = "Region of the services, the database and the scheduler jobs, such as europe-west1."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "region must be a region such as europe-west1, not a zone such as europe-west1-b."
  }
}

variable "name" {
  description = "Prefix of the name of everything. Two installations in one project need two names."
  type        = string
  default     = "belfry"
  nullable    = false

  validation {
    # A service account id has at most 30 characters; the longest suffix is "-scheduler".
    condition     = can(regex("^[a-z][a-z0-9-]{2,17}[a-z0-9]$", var.name))
    error_message = "name must be 4 to 19 lower-case letters, digits and hyphens, beginning with a letter: service account ids have at most 30 characters, and the longest one is NAME-scheduler."
  }
}

variable "labels" {
  description = "Labels of every resource that takes labels."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "images" {
  description = "Image of each program, by tag or digest: api, tick, worker, migrate, and worker_long where long jobs are run. `make images` builds and pushes them."
  type = object({
    api         = string
    tick        = string
    worker      = string
    migrate     = string
    worker_long = optional(string)
  })
  nullable = false

  validation {
    condition     = alltrue([for image in values(var.images) : image == null || can(regex("^[a-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)+(:[A-Za-z0-9_.-]+|@sha256:[0-9a-f]{64})$", image))])
    error_message = "images must be full references with a tag or a digest, such as europe-west1-docker.pkg.dev/my-project/belfry/api:v1.0.0."
  }
  validation {
    condition     = alltrue([for image in values(var.images) : image == null || !endswith(coalesce(image, "-"), ":latest")])
    error_message = "images must not use the tag latest: an upgrade would then happen, or not, without a plan."
  }
}

variable "enable_apis" {
  description = "Switch on the Google APIs that are needed. They stay on when the installation is destroyed."
  type        = bool
  default     = true
  nullable    = false
}

variable "deletion_protection" {
  description = "Refuse to destroy the database and the services. Set it to false, apply, then destroy."
  type        = bool
  default     = true
  nullable    = false
}

variable "environment" {
  description = "More settings for all programs, such as { BELFRY_LOG_LEVEL = \"debug\" }. See docs/settings.md."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for name in keys(var.environment) : startswith(name, "BELFRY_")])
    error_message = "environment takes settings of Belfry, whose names begin with BELFRY_."
  }
  validation {
    condition = length(setintersection(keys(var.environment), [
      "BELFRY_TOKENS", "BELFRY_WEBHOOK_SECRETS", "BELFRY_DATABASE_URL", "BELFRY_DATABASE_POOL", "BELFRY_ECONOMY", "BELFRY_TICK_TIME", "BELFRY_TICK_IDLE", "BELFRY_TICK_SLEEP", "BELFRY_TICK_WAKE",
      "BELFRY_CALLER_AUDIENCE", "BELFRY_CALLER_ACCOUNT", "BELFRY_CALLER_IAM", "BELFRY_PUSH_DEADLINE", "BELFRY_INSECURE",
      "BELFRY_QUEUE_CRITICAL_URL", "BELFRY_QUEUE_DEFAULT_URL", "BELFRY_QUEUE_BULK_URL",
    ])) == 0
    error_message = "environment must not name a secret or a setting that the module sets itself; use the module's variable for it."
  }
}

# --- the database ---

variable "database" {
  description = <<-EOT
    The Cloud SQL instance that is made: tier, edition (ENTERPRISE or ENTERPRISE_PLUS), disk in GB, whether a second zone stands by,
    and its limit of connections (null: Cloud SQL's own for the tier, which the module knows for shared-core and the small custom tiers).
    null: none is made, and existing_database says what is used.
  EOT
  type = object({
    tier              = optional(string, "db-custom-1-3840")
    edition           = optional(string, "ENTERPRISE")
    version           = optional(string, "POSTGRES_17")
    disk_gb           = optional(number, 10)
    high_availability = optional(bool, false)
    max_connections   = optional(number)
    backups_retained  = optional(number, 7)
  })
  default = {}

  validation {
    condition     = var.database == null || contains(["ENTERPRISE", "ENTERPRISE_PLUS"], try(var.database.edition, ""))
    error_message = "database.edition must be ENTERPRISE or ENTERPRISE_PLUS. Google's own default for PostgreSQL 16 and newer is ENTERPRISE_PLUS, which costs several times as much."
  }
  validation {
    condition     = var.database == null || can(regex("^POSTGRES_1[4-9]$", var.database.version))
    error_message = "database.version must be POSTGRES_14 or newer."
  }
  validation {
    condition     = var.database == null || try(var.database.edition, "") == "ENTERPRISE" || startswith(try(var.database.tier, ""), "db-perf-optimized-")
    error_message = "database.tier of ENTERPRISE_PLUS must begin with db-perf-optimized-."
  }
  validation {
    condition     = var.database == null || try(var.database.disk_gb >= 10, false)
    error_message = "database.disk_gb must be at least 10."
  }
}

variable "existing_database" {
  description = <<-EOT
    A database that is there: a Secret Manager secret (projects/P/secrets/S) that holds its URL for the functions, one for the migrations
    (a role that may create the schema; default: the same), its limit of connections, and its Cloud SQL connection name where it is one.
  EOT
  type = object({
    url_secret         = string
    migrate_url_secret = optional(string)
    max_connections    = number
    cloudsql_instance  = optional(string)
  })
  default = null

  validation {
    condition     = var.existing_database == null || can(regex("^projects/[^/]+/secrets/[^/]+$", var.existing_database.url_secret))
    error_message = "existing_database.url_secret must be projects/PROJECT/secrets/SECRET. The database's URL itself belongs into the secret, never into a variable."
  }
}

variable "network" {
  description = <<-EOT
    VPC network and subnetwork that the services reach a private database through, by direct VPC egress; the instance that is made then
    has a private address only, and the network needs private services access. null: the database has a public address without any
    authorized network, and is reached through Google's connector, over mutual TLS and IAM.
  EOT
  type = object({
    network    = string
    subnetwork = string
  })
  default = null
}

variable "run_migrations" {
  description = "Run the migrations during apply, before the services change, by `gcloud run jobs execute`. false: you run the command of the output migrate_command yourself; the services of a first apply start only once it has made the secrets."
  type        = bool
  default     = true
  nullable    = false
}

# --- the API ---

variable "api" {
  description = "The API's service: whether anybody may reach it (Belfry's own tokens guard it; false: IAM does too), its instances, requests of an instance at once, and connections of an instance."
  type = object({
    public        = optional(bool, true)
    min_instances = optional(number, 0)
    max_instances = optional(number, 3)
    concurrency   = optional(number, 80)
    cpu           = optional(string, "1")
    memory        = optional(string, "512Mi")
    pool          = optional(number, 4)
  })
  default  = {}
  nullable = false

  validation {
    condition     = var.api.max_instances >= 1 && var.api.pool >= 1 && var.api.min_instances <= var.api.max_instances
    error_message = "api.max_instances and api.pool must be at least 1, and api.min_instances not above api.max_instances."
  }
}

variable "webhooks" {
  description = "Deliver jobs to URLs. Makes the signing secret."
  type        = bool
  default     = true
  nullable    = false
}

variable "webhook_allow" {
  description = "What webhooks may reach beyond public addresses: networks, addresses, host names (BELFRY_WEBHOOK_ALLOW)."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "migrator_password_version" {
  description = "Raise it to make a new password for the database user of the migrations, or where an apply broke off between the user and its secret."
  type        = number
  default     = 1
  nullable    = false
}

# --- the tick ---

variable "tick" {
  description = <<-EOT
    The tick's service. mode: "idle" (a call ends when nothing is due, and API and workers wake the tick; the least cost without being late),
    "loop" (it ticks all the time, in calls of so many seconds that overlap), or "economy" (one pass a minute: what is due later, retries and
    schedules start up to a minute late). sleep_seconds, in mode idle: how long an idle tick leaves the database alone; jobs submitted by SQL start up to that late.
  EOT
  type = object({
    mode          = optional(string, "idle")
    seconds       = optional(number, 110)
    sleep_seconds = optional(number, 0)
    cpu           = optional(string, "0.167")
    memory        = optional(string, "256Mi")
    pool          = optional(number, 2)
  })
  default  = {}
  nullable = false

  validation {
    condition     = contains(["idle", "loop", "economy"], var.tick.mode)
    error_message = "tick.mode must be idle, loop or economy."
  }
  validation {
    condition     = var.tick.seconds >= 65 && var.tick.seconds <= 115
    error_message = "tick.seconds must be 65 to 115: each call must reach into the next one's minute, and end before its own job's next call."
  }
  validation {
    condition     = var.tick.sleep_seconds >= 0 && var.tick.sleep_seconds <= 3600 && (var.tick.sleep_seconds == 0 || var.tick.mode == "idle")
    error_message = "tick.sleep_seconds must be 0 to 3600, and needs the mode idle."
  }
}

# --- the workers ---

variable "workers" {
  description = "The worker of each priority: instances, jobs of an instance at once, and its connections. max_instances times concurrency is how many jobs of the priority run at once."
  type = map(object({
    min_instances = optional(number, 0)
    max_instances = optional(number, 4)
    concurrency   = optional(number, 10)
    cpu           = optional(string, "1")
    memory        = optional(string, "512Mi")
    pool          = optional(number, 2)
  }))
  default = {
    critical = {}
    default  = {}
    bulk     = {}
  }
  nullable = false

  validation {
    condition     = length(setsubtract(["critical", "default", "bulk"], keys(var.workers))) == 0 && length(var.workers) == 3
    error_message = "workers must have exactly the keys critical, default and bulk: each priority has its own queue and its own worker."
  }
  validation {
    condition     = alltrue([for w in values(var.workers) : w.max_instances >= 1 && w.pool >= 1 && w.concurrency >= 1 && w.concurrency <= 1000 && w.min_instances <= w.max_instances])
    error_message = "workers: max_instances and pool must be at least 1, concurrency 1 to 1000, and min_instances not above max_instances."
  }
}

variable "push_deadline" {
  description = "Seconds that Pub/Sub waits for a worker's answer, 60 to 600. An attempt has nine tenths of it."
  type        = number
  default     = 600
  nullable    = false

  validation {
    condition     = var.push_deadline >= 60 && var.push_deadline <= 600
    error_message = "push_deadline must be 60 to 600: Pub/Sub waits at most ten minutes for a push."
  }
}

variable "worker_long" {
  description = "A worker pool that pulls, for jobs longer than a push allows: the priority whose jobs it runs instead of the service, its instances and jobs at once. null: there is none."
  type = object({
    priority  = optional(string, "bulk")
    instances = optional(number, 1)
    jobs      = optional(number, 100)
    cpu       = optional(string, "1")
    memory    = optional(string, "512Mi")
    pool      = optional(number, 4)
  })
  default = null

  validation {
    condition     = var.worker_long == null || contains(["critical", "default", "bulk"], try(var.worker_long.priority, ""))
    error_message = "worker_long.priority must be critical, default or bulk."
  }
}

# --- watching it ---

variable "alert_emails" {
  description = "Addresses that alerts are sent to."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for address in var.alert_emails : can(regex("^[^@ ]+@[^@ ]+$", address))])
    error_message = "alert_emails must be e-mail addresses."
  }
}

variable "notification_channels" {
  description = "Ids of Cloud Monitoring notification channels that alerts go to as well."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "budget" {
  description = "A monthly budget of the project with alerts at 50, 90 and 100 %: the billing account, the amount and its currency. null: none."
  type = object({
    billing_account = string
    amount          = number
    currency        = optional(string, "USD")
  })
  default = null
}
