# A VPC without a NAT gateway: the functions leave it over IPv6, by an egress-only gateway that costs nothing. Prices: README.md.
locals {
  in_vpc          = local.creates_network || var.network.vpc_id != null
  creates_network = var.network.vpc_id == null && var.database.kind != "existing"
  over_ipv6       = var.network.egress == "ipv6"
  public_subnets  = local.creates_network && (var.network.egress == "nat" || var.worker_long != null)

  zones    = local.creates_network ? slice(data.aws_availability_zones.available[0].names, 0, var.network.zones) : []
  zone_map = { for i, zone in local.zones : zone => i }

  vpc_id       = local.creates_network ? one(aws_vpc.this[*].id) : var.network.vpc_id
  subnet_ids   = local.creates_network ? [for z in local.zones : aws_subnet.private[z].id] : var.network.subnet_ids
  task_subnets = local.public_subnets && var.network.egress != "nat" ? [for z in local.zones : aws_subnet.public[z].id] : (length(var.network.public_subnet_ids) > 0 ? var.network.public_subnet_ids : local.subnet_ids)
  task_public  = local.public_subnets && var.network.egress != "nat" || length(var.network.public_subnet_ids) > 0

  function_security_groups = local.in_vpc ? concat([aws_security_group.functions[0].id], var.network.security_group_ids) : []
}

data "aws_availability_zones" "available" {
  count = local.creates_network ? 1 : 0
  state = "available"

  filter {
    name   = "opt-in-status"
    values = ["opt-in-not-required"]
  }
}

resource "aws_vpc" "this" {
  count                            = local.creates_network ? 1 : 0
  cidr_block                       = var.network.cidr
  assign_generated_ipv6_cidr_block = true
  enable_dns_support               = true
  enable_dns_hostnames             = true
  tags                             = merge(local.tags, { Name = var.name })
}

# Nothing uses the VPC's own group: it lets nothing in and out.
resource "aws_default_security_group" "this" {
  count  = local.creates_network ? 1 : 0
  vpc_id = aws_vpc.this[0].id
  tags   = merge(local.tags, { Name = "${var.name}-unused" })
}

resource "aws_subnet" "private" {
  for_each                        = local.zone_map
  vpc_id                          = aws_vpc.this[0].id
  availability_zone               = each.key
  cidr_block                      = cidrsubnet(aws_vpc.this[0].cidr_block, 4, each.value)
  ipv6_cidr_block                 = cidrsubnet(aws_vpc.this[0].ipv6_cidr_block, 8, each.value)
  assign_ipv6_address_on_creation = true
  map_public_ip_on_launch         = false
  tags                            = merge(local.tags, { Name = "${var.name}-private-${each.key}" })
}

resource "aws_route_table" "private" {
  count  = local.creates_network ? 1 : 0
  vpc_id = aws_vpc.this[0].id
  tags   = merge(local.tags, { Name = "${var.name}-private" })
}

resource "aws_route_table_association" "private" {
  for_each       = local.zone_map
  subnet_id      = aws_subnet.private[each.key].id
  route_table_id = aws_route_table.private[0].id
}

resource "aws_egress_only_internet_gateway" "this" {
  count  = local.creates_network && var.network.egress != "endpoints" ? 1 : 0
  vpc_id = aws_vpc.this[0].id
  tags   = merge(local.tags, { Name = var.name })
}

resource "aws_route" "ipv6_out" {
  count                       = local.creates_network && var.network.egress != "endpoints" ? 1 : 0
  route_table_id              = aws_route_table.private[0].id
  destination_ipv6_cidr_block = "::/0"
  egress_only_gateway_id      = aws_egress_only_internet_gateway.this[0].id
}

# ---- public subnets: for a NAT gateway, or for tasks of the long worker ----
resource "aws_internet_gateway" "this" {
  count  = local.public_subnets ? 1 : 0
  vpc_id = aws_vpc.this[0].id
  tags   = merge(local.tags, { Name = var.name })
}

resource "aws_subnet" "public" {
  for_each                = local.public_subnets ? local.zone_map : {}
  vpc_id                  = aws_vpc.this[0].id
  availability_zone       = each.key
  cidr_block              = cidrsubnet(aws_vpc.this[0].cidr_block, 4, 8 + each.value)
  map_public_ip_on_launch = false
  tags                    = merge(local.tags, { Name = "${var.name}-public-${each.key}" })
}

resource "aws_route_table" "public" {
  count  = local.public_subnets ? 1 : 0
  vpc_id = aws_vpc.this[0].id
  tags   = merge(local.tags, { Name = "${var.name}-public" })
}

resource "aws_route" "public_out" {
  count                  = local.public_subnets ? 1 : 0
  route_table_id         = aws_route_table.public[0].id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.this[0].id
}

resource "aws_route_table_association" "public" {
  for_each       = local.public_subnets ? local.zone_map : {}
  subnet_id      = aws_subnet.public[each.key].id
  route_table_id = aws_route_table.public[0].id
}

resource "aws_eip" "nat" {
  count  = local.creates_network && var.network.egress == "nat" ? 1 : 0
  domain = "vpc"
  tags   = merge(local.tags, { Name = "${var.name}-nat" })
}

# One for all zones: a second one costs as much again, and a zone that is lost holds work up, and loses none.
resource "aws_nat_gateway" "this" {
  count         = local.creates_network && var.network.egress == "nat" ? 1 : 0
  allocation_id = aws_eip.nat[0].id
  subnet_id     = aws_subnet.public[local.zones[0]].id
  tags          = merge(local.tags, { Name = var.name })
  depends_on    = [aws_internet_gateway.this]
}

resource "aws_route" "nat_out" {
  count                  = local.creates_network && var.network.egress == "nat" ? 1 : 0
  route_table_id         = aws_route_table.private[0].id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.this[0].id
}

# ---- interface endpoints, where there is no other way out ----
resource "aws_security_group" "endpoints" {
  count       = local.creates_network && var.network.egress == "endpoints" ? 1 : 0
  name        = "${var.name}-endpoints"
  description = "Interface endpoints of Belfry"
  vpc_id      = local.vpc_id
  tags        = merge(local.tags, { Name = "${var.name}-endpoints" })
}

resource "aws_vpc_security_group_ingress_rule" "endpoints" {
  count                        = local.creates_network && var.network.egress == "endpoints" ? 1 : 0
  security_group_id            = aws_security_group.endpoints[0].id
  referenced_security_group_id = aws_security_group.functions[0].id
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
  description                  = "HTTPS, from the functions"
}

resource "aws_vpc_endpoint" "this" {
  for_each            = local.creates_network && var.network.egress == "endpoints" ? toset(["sqs", "secretsmanager", "lambda"]) : toset([])
  vpc_id              = local.vpc_id
  service_name        = "com.amazonaws.${local.region}.${each.key}"
  vpc_endpoint_type   = "Interface"
  subnet_ids          = local.subnet_ids
  security_group_ids  = [aws_security_group.endpoints[0].id]
  private_dns_enabled = true
  tags                = merge(local.tags, { Name = "${var.name}-${each.key}" })
}

# ---- who may speak to whom ----
resource "aws_security_group" "functions" {
  count       = local.in_vpc ? 1 : 0
  name        = "${var.name}-functions"
  description = "Functions of Belfry: nothing comes in"
  vpc_id      = local.vpc_id
  tags        = merge(local.tags, { Name = "${var.name}-functions" })
}

locals {
  web_ports = [for port in split(",", lookup(var.settings, "BELFRY_WEBHOOK_PORTS", "80,443,8080,8443")) : trimspace(port)]
  # Over IPv6 to AWS and to receivers of webhooks; over IPv4 too where there is a way.
  ipv6_ports = local.in_vpc && var.network.egress != "endpoints" ? toset(distinct(concat(["443"], local.web_ports))) : toset([])
  ipv4_ports = local.in_vpc && (var.network.egress == "nat" || !local.creates_network) ? toset(distinct(concat(["443"], local.web_ports))) : toset([])
}

resource "aws_vpc_security_group_egress_rule" "ipv6" {
  for_each          = local.ipv6_ports
  security_group_id = aws_security_group.functions[0].id
  cidr_ipv6         = "::/0"
  ip_protocol       = "tcp"
  from_port         = tonumber(each.key)
  to_port           = tonumber(each.key)
  description       = "AWS and receivers of webhooks, over IPv6"
}

resource "aws_vpc_security_group_egress_rule" "ipv4" {
  for_each          = local.ipv4_ports
  security_group_id = aws_security_group.functions[0].id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = tonumber(each.key)
  to_port           = tonumber(each.key)
  description       = "AWS and receivers of webhooks, over IPv4"
}

resource "aws_vpc_security_group_egress_rule" "endpoints" {
  count                        = local.creates_network && var.network.egress == "endpoints" ? 1 : 0
  security_group_id            = aws_security_group.functions[0].id
  referenced_security_group_id = aws_security_group.endpoints[0].id
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
  description                  = "HTTPS, to the endpoints of AWS"
}

resource "aws_vpc_security_group_egress_rule" "database" {
  count                        = local.managed ? 1 : 0
  security_group_id            = aws_security_group.functions[0].id
  referenced_security_group_id = aws_security_group.database[0].id
  ip_protocol                  = "tcp"
  from_port                    = 5432
  to_port                      = 5432
  description                  = "PostgreSQL"
}
