"""Run by Python before moto, as sitecustomize.py: makes it fit for many callers at once, and for Terraform.

It keeps connections open, which moto closes after each answer: its one thread that accepts them gets no turn among those
that answer, and all callers wait. It looks once, not for each request and under a lock, at all of moto's folders. And
it lets one thread at a time change a queue's messages: of two that delete, moto forgets what one did, and the message
comes again.

For Terraform it says which parameters a database has, writes redrive policies as AWS does, finds subnets by their IPv6
blocks and says in which state these are, keeps the descriptions of rules between security groups, tells who is subscribed
to a budget and how it is tagged, and answers invocations of functions without Docker, and without running them. Mappings
of queues deliver nothing.
"""

try:
    import json
    import threading

    import moto.backends
    import moto.budgets.models
    import moto.budgets.responses
    import moto.core.config
    import moto.ec2.models.security_groups
    import moto.ec2.models.subnets
    import moto.rds.responses
    import moto.sqs.models
    import werkzeug.serving

    names = tuple(moto.backends.list_of_moto_modules())
    moto.backends.list_of_moto_modules = lambda: names
    werkzeug.serving.WSGIRequestHandler.protocol_version = "HTTP/1.1"
    lock = threading.RLock()

    def alone(method):
        def call(*args, **kwargs):
            with lock:
                return method(*args, **kwargs)

        return call

    for name in ("add_message", "delete_message"):
        setattr(moto.sqs.models.Queue, name, alone(getattr(moto.sqs.models.Queue, name)))

    moto.core.config.default_user_config["lambda"] = {"use_docker": False}

    Subnet = moto.ec2.models.subnets.Subnet
    filter_value = Subnet.get_filter_value

    def get_filter_value(self, filter_name, method_name=None):
        if filter_name == "ipv6-cidr-block-association.association-id":
            return list(self.ipv6_cidr_block_associations)
        return filter_value(self, filter_name, method_name)

    def associations(self):
        return [
            {"associationId": a["associationId"], "ipv6CidrBlock": a["ipv6CidrBlock"], "ipv6CidrBlockState": a["ipv6CidrBlockState"]}
            for a in self.ipv6_cidr_block_associations.values()
            if a["ipv6CidrBlockState"]["State"] == "associated"
        ]

    Subnet.get_filter_value = get_filter_value
    Subnet.ipv6_cidr_block_association_set = property(associations)

    Rule = moto.ec2.models.security_groups.SecurityGroupRule
    Rule.description = property(lambda self: self.ip_range.get("Description") or (self.source_group or {}).get("Description"))

    def describe_db_parameters(self):
        result = db_parameters(self)
        result.result["Parameters"] = [{"Source": "user", **p} for p in result.result["Parameters"]]
        return result

    RDS = moto.rds.responses.RDSResponse
    db_parameters = RDS.describe_db_parameters
    RDS.describe_db_parameters = describe_db_parameters

    queue_attributes = moto.sqs.models.Queue.attributes.fget

    def attributes(self):
        found = queue_attributes(self)
        if found.get("RedrivePolicy"):
            found["RedrivePolicy"] = json.dumps(json.loads(found["RedrivePolicy"]), separators=(",", ":"))
        return found

    moto.sqs.models.Queue.attributes = property(attributes)

    # A mapping would deliver to a function that does not run, and delete what it delivered.
    moto.sqs.models.Queue.lambda_event_source_mappings = property(lambda self: {}, lambda self, value: None)

    def describe_subscribers_for_notification(self):
        asked = json.loads(self.body)
        budget = self.backend.budgets[asked["AccountId"]][asked["BudgetName"]]
        for n in budget.notifications:
            if all(n.details.get(k) == asked["Notification"].get(k) for k in ("NotificationType", "Threshold", "ComparisonOperator")):
                return json.dumps({"Subscribers": n.subscribers})
        return json.dumps({"Subscribers": []})

    tags = {}
    Budgets = moto.budgets.responses.BudgetsResponse
    create_budget = Budgets.create_budget

    def create_tagged_budget(self):
        asked = json.loads(self.body)
        tags[asked["Budget"]["BudgetName"]] = asked.get("ResourceTags", [])
        return create_budget(self)

    def list_tags_for_resource(self):
        name = json.loads(self.body)["ResourceARN"].split("/", 1)[-1]
        return json.dumps({"ResourceTags": tags.get(name, [])})

    Budgets.create_budget = create_tagged_budget
    Budgets.list_tags_for_resource = list_tags_for_resource
    Budgets.describe_subscribers_for_notification = describe_subscribers_for_notification
except (ImportError, AttributeError):
    pass
