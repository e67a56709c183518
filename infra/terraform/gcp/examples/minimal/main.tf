# Belfry on Google Cloud with the fewest variables: a database, the API, the tick and the workers.

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

variable "images" {
  description = "Images of the programs; `make images` prints them."
  type        = object({ api = string, tick = string, worker = string, migrate = string })
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

provider "google" {
  project = var.project
  region  = var.region
}

module "belfry" {
  source = "../.."

  project        = var.project
  region         = var.region
  images         = var.images
  alert_emails   = [var.alert_email]
  run_migrations = var.run_migrations
}

output "api_url" {
  description = "URL of the API."
  value       = module.belfry.api_url
}

output "admin_token_command" {
  description = "Prints the admin token."
  value       = module.belfry.admin_token_command
}

output "dashboard_url" {
  description = "The dashboard."
  value       = module.belfry.dashboard_url
}
