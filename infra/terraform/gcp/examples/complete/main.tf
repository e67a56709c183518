# Belfry on Google Cloud with all there is: a private database in two zones, a repository of its own for the images, workers sized
# by priority, a worker pool for long jobs, alerts to a channel that is there, and a budget.

terraform {
  required_version = ">= 1.11"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 6.50, < 8.0"
    }
    random = {
      source  = "hashicorp/random"
      version = ">= 3.7"
    }
  }
}

variable "project" {
  description = "Id of the project."
  type        = string
}

variable "region" {
  description = "Region of everything."
  type        = string
  default     = "europe-west1"
}

variable "image_version" {
  description = "Tag of the images in the repository that is made here."
  type        = string
}

variable "billing_account" {
  description = "Billing account of the budget."
  type        = string
}

variable "alert_email" {
  description = "Address that alerts are sent to."
  type        = string
}

variable "run_migrations" {
  description = "Run the migrations by gcloud during apply."
  type        = bool
  default     = true
}

variable "deletion_protection" {
  description = "Refuse to destroy the database and the services."
  type        = bool
  default     = true
}

provider "google" {
  project = var.project
  region  = var.region
}

resource "google_artifact_registry_repository" "belfry" {
  project       = var.project
  location      = var.region
  repository_id = "belfry"
  description   = "Images of Belfry"
  format        = "DOCKER"
}

# A network in which the database has an address; nothing else is in it, and no NAT gateway is needed.
resource "google_compute_network" "belfry" {
  project                 = var.project
  name                    = "belfry"
  auto_create_subnetworks = false
}

resource "google_compute_subnetwork" "belfry" {
  project       = var.project
  region        = var.region
  name          = "belfry"
  network       = google_compute_network.belfry.id
  ip_cidr_range = "10.8.0.0/24"

  private_ip_google_access = true
}

resource "google_compute_global_address" "database" {
  project       = var.project
  name          = "belfry-database"
  purpose       = "VPC_PEERING"
  address_type  = "INTERNAL"
  prefix_length = 20
  network       = google_compute_network.belfry.id
}

resource "google_service_networking_connection" "database" {
  network                 = google_compute_network.belfry.id
  service                 = "servicenetworking.googleapis.com"
  reserved_peering_ranges = [google_compute_global_address.database.name]
}

locals {
  repository = "${var.region}-docker.pkg.dev/${var.project}/${google_artifact_registry_repository.belfry.repository_id}"
}

module "belfry" {
  source = "../.."

  project = var.project
  region  = var.region
  name    = "belfry-prod"
  labels  = { team = "platform" }

  images = {
    api         = "${local.repository}/api:${var.image_version}"
    tick        = "${local.repository}/tick:${var.image_version}"
    worker      = "${local.repository}/worker:${var.image_version}"
    migrate     = "${local.repository}/migrate:${var.image_version}"
    worker_long = "${local.repository}/worker_long:${var.image_version}"
  }

  database = {
    tier              = "db-custom-2-7680"
    disk_gb           = 20
    high_availability = true
    backups_retained  = 14
  }
  network = {
    network    = google_compute_network.belfry.id
    subnetwork = google_compute_subnetwork.belfry.id
  }

  api = { min_instances = 1, max_instances = 10 }
  workers = {
    critical = { min_instances = 1, max_instances = 10, concurrency = 20 }
    default  = { max_instances = 20, concurrency = 20 }
    bulk     = { max_instances = 10, concurrency = 40 }
  }
  worker_long = { priority = "bulk", instances = 2 }

  webhook_allow = ["10.8.0.0/24"]
  environment   = { BELFRY_HISTORY_RETENTION = "336h" }

  alert_emails        = [var.alert_email]
  budget              = { billing_account = var.billing_account, amount = 200 }
  run_migrations      = var.run_migrations
  deletion_protection = var.deletion_protection

  depends_on = [google_service_networking_connection.database]
}

output "belfry" {
  description = "What the module says."
  value       = module.belfry
}
