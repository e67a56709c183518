"""What the document cannot say: how to make times that lie in the window, and which refusals no schema foretells."""

import json
import re
from datetime import datetime, timedelta, timezone

import schemathesis
from hypothesis import strategies as st

NOW = datetime.now(timezone.utc)


def written(moment, offset):
    return moment.astimezone(timezone(timedelta(minutes=offset))).isoformat()


# From 5 years ago to 50 years ahead: inside the bounds that a job's times have.
schemathesis.openapi.format(
    "date-time",
    st.builds(
        written,
        st.datetimes(
            min_value=(NOW - timedelta(days=5 * 365)).replace(tzinfo=None),
            max_value=(NOW + timedelta(days=50 * 365)).replace(tzinfo=None),
            timezones=st.just(timezone.utc),
        ),
        st.integers(min_value=-14 * 60, max_value=14 * 60),
    ),
)

# Rules that a request can break though its schema accepts it. docs/openapi.md lists them; keep the two alike.
BEYOND_THE_SCHEMA = [
    re.compile(rule)
    for rule in (
        r"^must lie ",  # bounds of times and durations
        r"^must be a duration with its units?, such as .*",  # more than Go's durations hold
        r"^must be after ",
        r"^must be the next_cursor of a page with the same filters$",
        r"^must not be empty; leave the parameter out instead$",  # the next_cursor of a last page
        r"^must be 0s or at least ",  # what is kept of a duration
        r"^is \d+ bytes, at most \d+ are kept$",  # bytes, where a schema counts characters
        r"^holds the control character ",  # noncharacters such as U+FFFE
        r"^holds \\u0000 ",
        r"^holds a lone surrogate",
        r"^nests arrays and objects ",
        r"^must be a job's id: ",  # beyond 64 bits
        r"^must be the belfry-lease-token of ",
        r"^was used for another request; ",  # an idempotency key
        r"^is refused: ",  # a target, by what is set up here
        r"^cannot be used: this server has no webhook secrets",
        r"^must be true where nothing else says ",  # one of several
        r"^must be later than ",  # the ends of a range
        r"^means nothing with(out)? ",  # fields that go together
        r"^must not be later than now: ",
        r"^must be at least 1s",  # expect_within
        r"^must not be \".\" or ",  # names that are steps in a path
    )
]

# Fields whose grammar no schema holds: what is due when, and in which zone. And headers, whose patterns the fuzzer
# does not always keep to.
GRAMMARS = {"cron", "time_zone", "every", "If-Match", "If-None-Match"}


def beyond_the_schema(response):
    try:
        problem = json.loads(response.content)
    except ValueError:
        return False
    errors = problem.get("errors") or []
    return response.status_code == 422 and bool(errors) and all(
        error["field"] in GRAMMARS or any(rule.search(error["rule"]) for rule in BEYOND_THE_SCHEMA) for error in errors
    )


@schemathesis.hook
def filter_failure(context, failure, case, response):
    rejected = type(failure).__name__ == "RejectedPositiveData"
    unmet = response.status_code == 412  # the version that If-Match names, or that there be none: no schema knows
    return not (rejected and (unmet or beyond_the_schema(response)))


@schemathesis.hook
def map_query(context, query):
    """A wait for the end of a job is short: the requests are made one after the other."""
    if query and isinstance(query.get("wait"), str) and re.fullmatch(r"[0-9a-zµμ.]+", query["wait"]):
        query["wait"] = "20ms"
    return query


@schemathesis.hook
def map_body(context, body):
    """Some jobs are of types that handlers know, so that all states are met."""
    if isinstance(body, dict) and isinstance(body.get("type"), str) and 1 <= len(body["type"]) <= 2:
        body["type"] = "echo" if len(body["type"]) == 1 else "fail"
    if isinstance(body, dict) and isinstance(body.get("cron"), str) and 1 <= len(body["cron"]) <= 4:
        body["cron"] = ("@yearly", "30 2 * * *", "*/5 1-5 * * MON", "0 0 L * ?")[len(body["cron"]) - 1]
    return body
