# LocalStack runs this once it is ready: the queues, under the names that deployments use, each with dead letters.
import json
import os

import boto3

VISIBILITY = os.environ.get("QUEUE_VISIBILITY", "360")  # seconds: six times the worker's timeout
MAX_RECEIVES = os.environ.get("QUEUE_MAX_RECEIVES", "5")

sqs = boto3.client(
    "sqs",
    endpoint_url="http://127.0.0.1:4566",
    region_name=os.environ.get("AWS_DEFAULT_REGION", "eu-west-1"),
    aws_access_key_id="test",
    aws_secret_access_key="test",
)

for priority in ("critical", "default", "bulk"):
    name = "belfry-" + priority
    dead = sqs.create_queue(QueueName=name + "-dead", Attributes={"MessageRetentionPeriod": "1209600"})["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sqs.create_queue(
        QueueName=name,
        Attributes={
            "VisibilityTimeout": VISIBILITY,
            "RedrivePolicy": json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": MAX_RECEIVES}),
        },
    )
    print("queue", name, "with dead letters in", name + "-dead")
