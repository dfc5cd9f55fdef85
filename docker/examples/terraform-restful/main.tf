# A cluster as a Terraform resource, with the generic provider magodo/restful.
#
# Reading with view=spec gives back what was sent and nothing else, so that a plan shows no drift. It is
# asked for when reading only: a DELETE takes no such parameter. An import needs it too:
#   terraform import restful_resource.cluster \
#     '{"id": "/api/v1/inventories/hal", "path": "/api/v1/inventories/hal", "query": {"view": ["spec"]}}'
terraform {
  required_providers {
    restful = {
      source  = "magodo/restful"
      version = ">= 0.14"
    }
  }
}

variable "shardline" {
  default = "http://127.0.0.1:8080"
}

provider "restful" {
  base_url = var.shardline
}

resource "restful_resource" "cluster" {
  path          = "/api/v1/inventories/hal"
  create_method = "PUT"
  update_method = "PUT"
  read_query    = { view = ["spec"] }
  body          = jsondecode(file("${path.module}/../cluster.json"))
}
