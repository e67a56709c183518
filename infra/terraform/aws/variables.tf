variable "name" {
  description = "Name of this deployment: what all its resources begin with. Two deployments in one account and region need two names."
  type        = string
  default     = "belfry"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,22}[a-z0-9]$", var.name)) && !strcontains(var.name, "--")
    error_message = "name: want 2 to 24 lower-case letters, digits and single hyphens, a letter first and no hyphen last: the longest name made of it must fit into what AWS allows."
  }
}

variable "tags" {
  description = "Tags of all resources, beside those of the provider."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "code" {
  description = <<-EOT
    Where the functions' zips are, as `make package` names them (api-arm64.zip, tick-arm64.zip, worker-arm64.zip,
    migrate-arm64.zip). One of: `directory`, a folder of this machine; `s3_bucket` with `s3_prefix`, in the functions' region;
    `url`, a folder on a web server, with `sha256`, the checksum of each function's zip in hexadecimal digits (the machine that
    applies then needs curl). With S3, `version` must change when the zips do.
  EOT
  type = object({
    directory    = optional(string)
    s3_bucket    = optional(string)
    s3_prefix    = optional(string, "")
    url          = optional(string)
    sha256       = optional(map(string), {})
    version      = optional(string, "")
    architecture = optional(string, "arm64")
  })
  nullable = false

  validation {
    condition     = length([for place in [var.code.directory, var.code.s3_bucket, var.code.url] : place if place != null]) == 1
    error_message = "code: give exactly one of directory, s3_bucket and url."
  }
  validation {
    condition     = contains(["arm64", "amd64"], var.code.architecture)
    error_message = "code.architecture: want arm64 or amd64."
  }
  validation {
    condition     = var.code.url == null || alltrue([for f in ["api", "tick", "worker", "migrate"] : can(regex("^[0-9a-f]{64}$", var.code.sha256[f]))])
    error_message = "code.sha256: with url, give the SHA-256 checksums of api, tick, worker and migrate, 64 lower-case hexadecimal digits each, as make package prints them."
  }
  validation {
    condition     = var.code.url == null || can(regex("^https://", var.code.url))
    error_message = "code.url: want https://…"
  }
}

variable "database" {
  description = <<-EOT
    The database. `kind`: `rds`, an RDS PostgreSQL instance; `aurora`, Aurora Serverless v2; or `existing`, one that is there, whose
    address is in the secret `secret_arn` (a URL, or JSON as RDS keeps it). `max_connections` is needed for `existing` and for
    instance classes that the module does not know; otherwise it is worked out. `min_capacity` and `max_capacity` are
    Aurora's, in ACUs; a minimum of 0 lets it pause after `pause_after_seconds` without a connection, which takes
    a tick that leaves it alone for as long: `tick.sleep_seconds`, or economy mode with `tick.every_minutes` of 10 or more. `instance_class`, `storage_gb`, `max_storage_gb` (automatic growth)
    and `multi_az` are of RDS instances.
  EOT
  type = object({
    kind                = optional(string, "rds")
    engine_version      = optional(string, "17")
    instance_class      = optional(string, "db.t4g.micro")
    storage_gb          = optional(number, 20)
    max_storage_gb      = optional(number, 100)
    multi_az            = optional(bool, false)
    min_capacity        = optional(number, 0.5)
    max_capacity        = optional(number, 4)
    pause_after_seconds = optional(number, 300)
    backup_days         = optional(number, 7)
    max_connections     = optional(number)
    secret_arn          = optional(string)
    snapshot            = optional(string)
    root_certificates   = optional(string, "/var/task/rds.pem")
  })
  default  = {}
  nullable = false

  validation {
    condition     = contains(["rds", "aurora", "existing"], var.database.kind)
    error_message = "database.kind: want rds, aurora or existing."
  }
  validation {
    condition     = (var.database.kind == "existing") == (var.database.secret_arn != null)
    error_message = "database.secret_arn: give the ARN of the secret with the database's address for kind existing, and only for it."
  }
  validation {
    condition     = var.database.secret_arn == null || can(regex("^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:", var.database.secret_arn))
    error_message = "database.secret_arn: want the ARN of a secret in Secrets Manager, arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME."
  }
  validation {
    condition     = can(regex("^1[4-9](\\.[0-9]+)?$", var.database.engine_version))
    error_message = "database.engine_version: want a version of PostgreSQL from 14 on, such as 17 or 16.4."
  }
  validation {
    condition     = var.database.backup_days >= 1 && var.database.backup_days <= 35
    error_message = "database.backup_days: want 1 to 35: without backups a lost database is lost with all jobs."
  }
  validation {
    condition     = var.database.min_capacity >= 0 && var.database.max_capacity >= 1 && var.database.max_capacity <= 256 && var.database.min_capacity <= var.database.max_capacity
    error_message = "database.min_capacity and max_capacity: want 0 to 256 ACUs, the maximum at least 1 and not below the minimum."
  }
  validation {
    condition     = var.database.storage_gb >= 20 && var.database.max_storage_gb >= var.database.storage_gb
    error_message = "database.storage_gb: want 20 or more, and max_storage_gb not below it."
  }
  validation {
    condition     = var.database.pause_after_seconds >= 300 && var.database.pause_after_seconds <= 86400
    error_message = "database.pause_after_seconds: want 300 to 86400."
  }
}

variable "network" {
  description = <<-EOT
    Where functions and database are. By default the module makes a VPC (`cidr`), in `zones` availability zones. `egress` is the
    functions' way out of it: `ipv6` (an egress-only gateway, free: AWS's dual-stack endpoints and webhooks to hosts with an
    IPv6 address), `nat` (a NAT gateway beside it: every host), or `endpoints` (interface endpoints for SQS, Secrets Manager and
    Lambda: no internet). With `vpc_id` and `subnet_ids` they are in yours, and the way out is yours too (`egress` then only says whether
    AWS is reached over IPv6); `security_group_ids` are added to the functions'. With an existing database and no `vpc_id` the
    functions are in no VPC.
  EOT
  type = object({
    cidr               = optional(string, "10.74.0.0/16")
    zones              = optional(number, 2)
    egress             = optional(string, "ipv6")
    vpc_id             = optional(string)
    subnet_ids         = optional(list(string), [])
    public_subnet_ids  = optional(list(string), [])
    security_group_ids = optional(list(string), [])
  })
  default  = {}
  nullable = false

  validation {
    condition     = contains(["ipv6", "nat", "endpoints"], var.network.egress)
    error_message = "network.egress: want ipv6, nat or endpoints."
  }
  validation {
    condition     = can(cidrsubnet(var.network.cidr, 8, 0)) && tonumber(split("/", var.network.cidr)[1]) <= 20
    error_message = "network.cidr: want a block of /16 to /20, such as 10.74.0.0/16."
  }
  validation {
    condition     = var.network.zones >= 2 && var.network.zones <= 3
    error_message = "network.zones: want 2 or 3: RDS asks for two."
  }
  validation {
    condition     = (var.network.vpc_id == null) == (length(var.network.subnet_ids) == 0)
    error_message = "network: give vpc_id and subnet_ids together, or neither."
  }
}

variable "api" {
  description = <<-EOT
    The API function. `front`: `http_api`, an API Gateway HTTP API, or `function_url`, which costs nothing for itself and needs a second permission
    that providers before 6.28 cannot express (see the README). `concurrency` is how many of its environments are counted when
    connections are shared out; `reserve_concurrency` makes Lambda keep to it. `rate` and `burst` bound the requests a second
    of an HTTP API. `stream` answers as it goes, with a Function URL only.
  EOT
  type = object({
    front               = optional(string, "http_api")
    concurrency         = optional(number, 10)
    reserve_concurrency = optional(bool, false)
    memory_mb           = optional(number, 512)
    timeout_seconds     = optional(number, 29)
    pool                = optional(number, 1)
    rate                = optional(number, 500)
    burst               = optional(number, 1000)
    stream              = optional(bool, false)
  })
  default  = {}
  nullable = false

  validation {
    condition     = contains(["function_url", "http_api"], var.api.front)
    error_message = "api.front: want http_api or function_url."
  }
  validation {
    condition     = !var.api.stream || var.api.front == "function_url"
    error_message = "api.stream: an HTTP API does not stream: set front to function_url, or stream to false."
  }
  validation {
    condition     = var.api.timeout_seconds >= 27 && var.api.timeout_seconds <= (var.api.front == "http_api" ? 30 : 900)
    error_message = "api.timeout_seconds: want 27 to 900, at most 30 with an HTTP API: a call may wait 25 s for a job."
  }
  validation {
    condition     = contains([1, 2], var.api.pool) && var.api.concurrency >= 1
    error_message = "api: want a pool of 1 or 2 connections, and a concurrency of 1 or more."
  }
}

variable "tick" {
  description = <<-EOT
    The tick function, which is invoked every `every_minutes`. `mode`: `idle`, it ends once nothing is due and API and workers wake it;
    `loop`, it ticks all the time, in invocations of `timeout_seconds` that overlap; `economy`, it makes one pass and ends, and jobs due later,
    retries and schedules begin up to a period late. In idle mode, `sleep_seconds` is for how long invocations leave the database alone
    while nothing is due, so that it can pause; jobs submitted by SQL begin up to this late.
  EOT
  type = object({
    mode            = optional(string, "idle")
    every_minutes   = optional(number, 1)
    sleep_seconds   = optional(number, 0)
    memory_mb       = optional(number, 256)
    timeout_seconds = optional(number, 110)
  })
  default  = {}
  nullable = false

  validation {
    condition     = contains(["idle", "loop", "economy"], var.tick.mode)
    error_message = "tick.mode: want idle, loop or economy."
  }
  validation {
    condition     = var.tick.every_minutes == floor(var.tick.every_minutes) && var.tick.every_minutes >= 1 && var.tick.every_minutes <= 60
    error_message = "tick.every_minutes: want 1 to 60."
  }
  validation {
    condition     = var.tick.mode == "economy" || var.tick.every_minutes == 1
    error_message = "tick.every_minutes: only economy mode makes do with fewer invocations: set mode = \"economy\", or every_minutes = 1."
  }
  validation {
    condition     = var.tick.sleep_seconds >= 0 && var.tick.sleep_seconds <= 3600 && (var.tick.sleep_seconds == 0 || var.tick.mode == "idle")
    error_message = "tick.sleep_seconds: want 0 to 3600, above 0 in idle mode only."
  }
  validation {
    condition     = var.tick.timeout_seconds >= 90 && var.tick.timeout_seconds <= 300
    error_message = "tick.timeout_seconds: want 90 to 300: invocations are a minute apart, late ones more, and the next must be there before one ends."
  }
}

variable "workers" {
  description = <<-EOT
    The worker function of each priority. `max_concurrency`: batches at once, 2 to 1000. `timeout_seconds` bounds a job, less about 30 s.
    `visibility_seconds` of its queue is six times the timeout where nothing is said.
  EOT
  type = object({
    critical = optional(object({
      max_concurrency    = optional(number, 5)
      batch_size         = optional(number, 10)
      window_seconds     = optional(number, 0)
      timeout_seconds    = optional(number, 900)
      memory_mb          = optional(number, 256)
      pool               = optional(number, 1)
      visibility_seconds = optional(number)
      max_receives       = optional(number, 5)
    }), {})
    default = optional(object({
      max_concurrency    = optional(number, 10)
      batch_size         = optional(number, 10)
      window_seconds     = optional(number, 0)
      timeout_seconds    = optional(number, 900)
      memory_mb          = optional(number, 256)
      pool               = optional(number, 1)
      visibility_seconds = optional(number)
      max_receives       = optional(number, 5)
    }), {})
    bulk = optional(object({
      max_concurrency    = optional(number, 5)
      batch_size         = optional(number, 10)
      window_seconds     = optional(number, 0)
      timeout_seconds    = optional(number, 900)
      memory_mb          = optional(number, 256)
      pool               = optional(number, 1)
      visibility_seconds = optional(number)
      max_receives       = optional(number, 5)
    }), {})
  })
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for w in values(var.workers) : w.max_concurrency >= 2 && w.max_concurrency <= 1000])
    error_message = "workers: want a max_concurrency of 2 to 1000."
  }
  validation {
    condition     = alltrue([for w in values(var.workers) : w.timeout_seconds >= 60 && w.timeout_seconds <= 900])
    error_message = "workers: want a timeout_seconds of 60 to 900. Longer jobs need worker_long."
  }
  validation {
    condition     = alltrue([for w in values(var.workers) : w.batch_size >= 1 && w.batch_size <= 100 && (w.batch_size <= 10 || w.window_seconds >= 1)])
    error_message = "workers: want a batch_size of 1 to 100; above 10, Lambda asks for a window_seconds of 1 or more."
  }
  validation {
    condition     = alltrue([for w in values(var.workers) : w.max_receives >= 5 && w.max_receives <= 1000])
    error_message = "workers: want max_receives of 5 to 1000: with fewer, messages that were only throttled land in the dead-letter queue."
  }
  validation {
    condition     = alltrue([for w in values(var.workers) : contains([1, 2], w.pool)])
    error_message = "workers: want a pool of 1 or 2 connections."
  }
}

variable "worker_long" {
  description = <<-EOT
    A worker on ECS (Fargate) for jobs that Lambda's 15 minutes are too short for. It alone receives the queues of `priorities`, which then have no worker function,
    and helps with the others. `image` is an image of functions/worker/ecs, in a registry that is public or, with
    `repository_arn`, in ECR. Its tasks are in public subnets, with an address and no way in, unless `network.egress` is `nat`.
  EOT
  type = object({
    image          = string
    repository_arn = optional(string)
    tasks          = optional(number, 1)
    cpu            = optional(number, 256)
    memory_mb      = optional(number, 512)
    pool           = optional(number, 4)
    workers        = optional(number, 50)
    priorities     = optional(list(string), ["bulk"])
    architecture   = optional(string, "ARM64")
  })
  default = null

  validation {
    condition     = var.worker_long == null || try(length(setsubtract(var.worker_long.priorities, ["critical", "default", "bulk"])) == 0, false)
    error_message = "worker_long.priorities: want some of critical, default and bulk."
  }
  validation {
    condition     = var.worker_long == null || try(var.worker_long.tasks >= 0 && var.worker_long.pool >= 2 && contains(["ARM64", "X86_64"], var.worker_long.architecture), false)
    error_message = "worker_long: want 0 or more tasks, a pool of 2 or more connections, and the architecture ARM64 or X86_64."
  }
}

variable "direct_mode" {
  description = "true makes neither queues nor worker functions: worker_long claims jobs from the table."
  type        = bool
  default     = false
  nullable    = false
}

variable "webhooks" {
  description = "true lets jobs have a target: the signing secret is made, and kept in Secrets Manager."
  type        = bool
  default     = true
  nullable    = false
}

variable "settings" {
  description = "Further settings of all functions (docs/settings.md), such as BELFRY_HISTORY_RETENTION. A secret one is given by the ARN of a secret, which secret_arns must list."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for k in keys(var.settings) : can(regex("^BELFRY_[A-Z_]+$", k)) && !can(regex("^BELFRY_(DATABASE|QUEUE|DEPLOY|RDS|CLOUDSQL|ECONOMY|TICK_IDLE|TICK_SLEEP|TICK_WAKE|MOST_TIMEOUT|STREAM|LOG_FORMAT|LOG_LEVEL)", k))])
    error_message = "settings: want names that begin with BELFRY_, of those that the module does not set itself (database, queues, economy, timeouts, logs)."
  }
  validation {
    condition     = alltrue([for k in ["BELFRY_TOKENS", "BELFRY_WEBHOOK_SECRETS"] : !contains(keys(var.settings), k) || can(regex("^arn:aws[a-z-]*:secretsmanager:", var.settings[k]))])
    error_message = "settings: BELFRY_TOKENS and BELFRY_WEBHOOK_SECRETS are secrets: give the ARN of a secret in Secrets Manager."
  }
}

variable "secret_arns" {
  description = "Secrets that settings name; the functions may read them."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "run_migrations" {
  description = "false leaves it to you to invoke the migrate function, before the first job and before each upgrade."
  type        = bool
  default     = true
  nullable    = false
}

variable "deletion_protection" {
  description = "true keeps the database from being deleted, and takes a last snapshot of one that is. To destroy the deployment, apply with false first."
  type        = bool
  default     = true
  nullable    = false
}

variable "log_level" {
  description = "debug or info. Above info the tick's record is not written, which the alarms are made of."
  type        = string
  default     = "info"
  nullable    = false

  validation {
    condition     = contains(["debug", "info"], var.log_level)
    error_message = "log_level: want debug or info: the alarms are made of records at level info."
  }
}

variable "log_retention_days" {
  description = "How long logs are kept."
  type        = number
  default     = 14
  nullable    = false

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.log_retention_days)
    error_message = "log_retention_days: want a number of days that CloudWatch Logs knows: 1, 3, 5, 7, 14, 30, 60, 90, …"
  }
}

variable "alarms" {
  description = <<-EOT
    Whom alarms tell, and from when on. They go to a topic that the module makes and `emails` get, or to `topic_arn`. Thresholds: a job that
    has been due for `oldest_due_seconds`; a message in a queue older than `message_age_seconds`; more open connections than `connections_percent` of
    what the database takes; less free storage than `free_storage_percent`; fewer CPU credits than `cpu_credits`; a
    snapshot older than `oldest_snapshot_seconds`.
  EOT
  type = object({
    emails                  = optional(list(string), [])
    topic_arn               = optional(string)
    oldest_due_seconds      = optional(number, 300)
    message_age_seconds     = optional(number, 1800)
    connections_percent     = optional(number, 80)
    free_storage_percent    = optional(number, 15)
    cpu_credits             = optional(number, 30)
    oldest_snapshot_seconds = optional(number, 900)
  })
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for p in [var.alarms.connections_percent, var.alarms.free_storage_percent] : p > 0 && p < 100])
    error_message = "alarms: want percentages between 0 and 100."
  }
  validation {
    condition     = var.alarms.topic_arn == null || length(var.alarms.emails) == 0
    error_message = "alarms: give emails for the module's own topic, or topic_arn, not both."
  }
}

variable "dashboard" {
  description = "true makes a CloudWatch dashboard: three are free in an account, each further one is $3 a month."
  type        = bool
  default     = true
  nullable    = false
}

variable "budget" {
  description = <<-EOT
    A monthly budget that tells the alarms' topic at 80 % and 100 % of `monthly_usd`, and when the forecast is above it. It counts the whole account, or
    with `cost_tag` what has this cost allocation tag (`user:Project$belfry`), which must be activated in the account. Null makes none.
  EOT
  type = object({
    monthly_usd = optional(number, 50)
    cost_tag    = optional(string)
  })
  default = {}
}

variable "permissions_boundary_arn" {
  description = "Permissions boundary of all roles. Null means none."
  type        = string
  default     = null
}
