"""Receives Belfry's webhooks and verifies each with the Standard Webhooks library.

    pip install standardwebhooks
    BELFRY_WEBHOOK_SECRET=whsec_... PORT=8090 python3 receiver.py
"""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["BELFRY_WEBHOOK_SECRET"])

# Ids of jobs whose work is done. A real receiver keeps them in its database, in the transaction of the work.
done = set()


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections open

    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        if length > 1 << 20:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(length)
        try:
            payload = webhook.verify(body, dict(self.headers))
        except (WebhookVerificationError, ValueError):
            return self.answer(401)  # not from Belfry, changed on the way, or too old
        job = self.headers["webhook-id"]
        if job not in done:
            work(job, payload)
            done.add(job)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


def work(job, payload):
    print(f"job {job}", flush=True)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 8090))), Receiver)
    print("listening on http://%s:%d" % server.server_address, flush=True)
    server.serve_forever()
