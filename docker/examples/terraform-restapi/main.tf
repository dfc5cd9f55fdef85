# A cluster as a Terraform resource, with the generic provider Mastercard/restapi (written for 3.x).
#
# Reading with view=spec gives back what was sent and nothing else, so that a plan shows no drift and
# neither ignore_server_additions nor ignore_changes_to is needed. `terraform import
# restapi_object.cluster /api/v1/inventories/hal` reads without it: the first apply after an import
# writes what is there already, which makes no new revision, and all is quiet from then on.
terraform {
  required_providers {
    restapi = {
      source  = "Mastercard/restapi"
      version = ">= 2.0"
    }
    http = {
      source  = "hashicorp/http"
      version = ">= 3.3"
    }
  }
}

variable "shardline" {
  default = "http://127.0.0.1:8080"
}

provider "restapi" {
  uri = var.shardline

  # The answer to a write has a status beside the spec, so the object is read again instead.
  write_returns_object = false
}

resource "restapi_object" "cluster" {
  object_id     = "hal"
  path          = "/api/v1/inventories"
  create_method = "PUT"
  create_path   = "/api/v1/inventories/{id}"
  read_path     = "/api/v1/inventories/{id}?view=spec"
  update_method = "PUT"
  data          = file("${path.module}/../cluster.json")
}

# A gate: plan and apply fail when the run does not fit, with the service's own sentence.
data "http" "fits" {
  url             = "${var.shardline}/api/v1/estimates?require=fits"
  method          = "POST"
  request_headers = { Content-Type = "application/json" }
  request_body    = file("${path.module}/../run.json")
  depends_on      = [restapi_object.cluster]

  lifecycle {
    postcondition {
      condition     = self.status_code == 200
      error_message = jsondecode(self.response_body).detail
    }
  }
}
