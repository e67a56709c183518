package solo

import (
	"fmt"
	"io"
	"net"

	"github.com/belfry-dev/belfry/functions/boot"
)

// greet prints where everything is and a command that works.
func greet(out io.Writer, o Options, s Stack, l net.Listener, token bool) {
	fmt.Fprintf(out, "Belfry %s: %s, %s, jobs in %s\n", boot.Version(), o.Roles, s.Queues, s.Keeps)
	if l == nil {
		return
	}
	url := "http://" + l.Addr().String()
	fmt.Fprintf(out, "  API          %s/v1\n  docs         %s/docs\n  OpenAPI      %s/openapi.json\n  metrics      %s/metrics\n", url, url, url, url)
	header := "" // the reader's own token to fill in: none is printed
	if token {
		header = ` -H "Authorization: Bearer $TOKEN"`
	}
	fmt.Fprintf(out, "\nSubmit a job:\n  curl -s %s/v1/jobs%s -H 'Content-Type: application/json' -d '{\"type\":\"echo\",\"payload\":{\"hello\":\"world\"}}'\n", url, header)
	fmt.Fprintf(out, "\nWait for its end:\n  curl -s%s '%s/v1/jobs/1?wait=30s'\n\nCtrl-C stops. %s\n", header, url, s.End)
}
