package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core/dialfault"
	"github.com/belfry-dev/belfry/functions/boot"
)

// checkSettings looks at the settings of this environment, as a process of Belfry that is started in it would have
// them. Where none are here, as on an operator's own machine, there is nothing to look at. stats are what the API says;
// nil where it did not answer.
func checkSettings(ctx context.Context, a *console.App, f *findings, stats *client.Stats) {
	s, err := boot.ReadSettings()
	switch refused := refusedQueues(s); {
	case err != nil:
		f.broken("settings", oneLine(err), "mend them: with these no process starts; docs/settings.md lists what is allowed")
	case len(refused) > 0:
		f.broken("settings", "refused: "+strings.Join(refused, ", "), "mend the URLs, as the check of the queue below says: with these no process starts")
	default:
		f.ok("settings", "a process started in this environment would take them")
	}
	mode := ""
	if stats != nil {
		mode = stats.Mode
	}
	checkQueues(ctx, f, s, mode)
	if stats != nil {
		checkWebhooks(ctx, a, f, s)
	}
}

// refusedQueues are the settings whose URL is none that a process takes.
func refusedQueues(s boot.Settings) (names []string) {
	for _, q := range s.QueueURLs() {
		if _, err := queueHost(q.URL); q.URL != "" && err != nil && !slices.Contains(names, q.Setting) {
			names = append(names, q.Setting)
		}
	}
	return names
}

// oneLine writes an error of several lines on one.
func oneLine(err error) string {
	return strings.NewReplacer(":\n  ", ": ", "\n  ", "; ", "\n", "; ").Replace(err.Error())
}

// checkQueues connects to where the queues are. Whether they are there, and may be used, only a process that has the
// rights can tell. mode is the server's; "" where it is not known.
func checkQueues(ctx context.Context, f *findings, s boot.Settings, mode string) {
	var reached, asked []string
	for _, q := range s.QueueURLs() {
		if q.URL == "" {
			continue
		}
		host, err := queueHost(q.URL)
		switch {
		case err != nil:
			f.broken("queue", q.Setting+": "+err.Error(), "mend the URL; docs/settings.md shows each kind")
			continue
		case host == "":
			reached = append(reached, "in the memory of its process")
			continue
		case slices.Contains(asked, host):
			continue
		}
		asked = append(asked, host)
		if fault := reach(ctx, q.URL, host); fault != "" {
			f.broken("queue", q.Setting+": "+fault, "start the broker, mend the URL, or open the way from here to there")
			continue
		}
		reached = append(reached, host+" answers")
	}
	switch {
	case len(s.QueueURLs()) == 0:
		text := "no BELFRY_QUEUE_…_URL here"
		if mode == client.ModeQueues {
			text += ", so that those of the server are not looked at"
		}
		f.leftOut("queue", text)
	case mode == client.ModeDirect:
		f.warn("queue", "BELFRY_QUEUE_…_URL is set here, and the server's workers claim from the table",
			"a worker that is started here would wait at queues that nobody fills: set them for all processes, or for none")
	case len(reached) > 0:
		f.ok("queue", "%s", strings.Join(slices.Compact(reached), ", "))
	}
}

// queuePorts are where a kind of queue listens, if its URL does not say.
var queuePorts = map[string]string{"amqp": "5672", "amqps": "5671", "awssqs": "443", "gcppubsub": "443", "gcppubsubv2": "443"}

// queueHost is the host and port behind a queue's URL; "" where it lives in a process. No error repeats the URL: it
// may hold a password.
func queueHost(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("is no URL")
	}
	if u.Scheme == "mem" {
		return "", nil
	}
	port, known := queuePorts[u.Scheme]
	if !known {
		return "", fmt.Errorf("there are no queues with the scheme %q: want amqp, amqps, awssqs, gcppubsubv2 or mem", u.Scheme)
	}
	host := u.Host
	if strings.HasPrefix(u.Scheme, "gcppubsub") {
		if host = u.Query().Get("emulator"); host == "" {
			host = "pubsub.googleapis.com"
		}
	}
	if endpoint, err := url.Parse(u.Query().Get("endpoint")); err == nil && endpoint.Host != "" {
		if host = endpoint.Host; endpoint.Scheme == "http" {
			port = "80"
		}
	}
	if host == "" {
		return "", errors.New("names no host")
	}
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host, nil
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port), nil
}

// reach opens a connection and closes it, and says what is in the way; "" means nothing. What listens for AMQP has to
// answer in it.
func reach(ctx context.Context, address, host string) (fault string) {
	ctx, cancel := context.WithTimeout(ctx, console.DialTimeout)
	defer cancel()
	dial := (&net.Dialer{}).DialContext
	if strings.HasPrefix(address, "amqps:") {
		dial = (&tls.Dialer{}).DialContext
	}
	conn, err := dial(ctx, "tcp", host)
	if err != nil {
		return dialfault.Describe(host, err)
	}
	defer func() { _ = conn.Close() }()
	if !strings.HasPrefix(address, "amqp") {
		return ""
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	const startFrame = 1 // a method, which only Connection.Start can be
	first := []byte{0}
	if _, err = io.WriteString(conn, "AMQP\x00\x00\x09\x01"); err == nil {
		_, err = io.ReadFull(conn, first)
	}
	switch {
	case ctx.Err() != nil:
		return dialfault.Describe(host, ctx.Err()) + "; is RabbitMQ running there?"
	case err != nil:
		return dialfault.Describe(host, err) + "; is RabbitMQ running there?"
	case first[0] != startFrame:
		return "no connection to " + host + ": what answers there is not RabbitMQ"
	}
	return ""
}

// checkWebhooks holds what types ask for against the settings of this environment.
func checkWebhooks(ctx context.Context, a *console.App, f *findings, s boot.Settings) {
	targets, err := targets(ctx, a)
	switch {
	case err != nil && len(s.WebhookSecrets) == 0:
		*f = append(*f, finding{"webhooks", stateLeftOut, "which types have targets cannot be told: " + console.Plain(err), ""})
	case err != nil:
		*f = append(*f, finding{"webhooks", stateLeftOut, console.Numbered(len(s.WebhookSecrets), "secret") + " here; which types have targets cannot be told: " + console.Plain(err), ""})
	case len(s.WebhookSecrets) == 0 && len(targets) > 0:
		f.warn("webhooks", console.Numbered(len(targets), "type")+" with a target, and no BELFRY_WEBHOOK_SECRETS here: "+some(targets),
			"a worker without secrets delivers nothing, and its jobs wait: see that the API and the workers have them, or run doctor in their environment")
	case len(s.WebhookSecrets) == 0:
		*f = append(*f, finding{"webhooks", stateLeftOut, "no BELFRY_WEBHOOK_SECRETS here, and no type has a target", ""})
	default:
		f.ok("webhooks", "signed with %s; %s a target", console.Numbered(len(s.WebhookSecrets), "secret"), map[bool]string{true: "1 type has", false: fmt.Sprintf("%d types have", len(targets))}[len(targets) == 1])
	}
}

// targets are the types that have one.
func targets(ctx context.Context, a *console.App) (names []string, err error) {
	api, err := a.Client()
	if err != nil {
		return nil, err
	}
	for t, err := range api.ListTypes(ctx) {
		if err != nil {
			return nil, err
		}
		if t.Target != nil {
			names = append(names, t.Type)
		}
	}
	return names, nil
}

// some is the first few of many names.
func some(names []string) string {
	const few = 5
	if len(names) > few {
		return strings.Join(names[:few], ", ") + fmt.Sprintf(" and %d more", len(names)-few)
	}
	return strings.Join(names, ", ")
}
