package rabbit

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// Topics and subscriptions name the host and the cause of a failed connection, without the texts of Go's packages.
func TestConnectionFaultsNameTheHost(t *testing.T) {
	server, err := url.Parse(testenv.Rabbit(t))
	if err != nil {
		t.Fatal(err)
	}
	stranger, novhost := *server, *server
	stranger.User, novhost.Path = url.UserPassword("someone", "canary"), "/nosuch"
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	mail := httptest.NewUnstartedServer(http.NotFoundHandler())
	mail.Config.ConnState = func(conn net.Conn, is http.ConnState) {
		if is == http.StateNew {
			_, _ = conn.Write([]byte("220 mail.example ESMTP ready\r\n"))
		}
	}
	mail.Start()
	t.Cleanup(mail.Close)
	site, post := web.Listener.Addr().String(), mail.Listener.Addr().String()
	deaf, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = deaf.Close() })
	closer := httptest.NewUnstartedServer(http.NotFoundHandler())
	closer.Config.ConnState = func(conn net.Conn, _ http.ConnState) { _ = conn.Close() }
	closer.Start()
	t.Cleanup(closer.Close)
	for _, row := range []struct{ address, says string }{
		{"amqp://u:canary@127.0.0.1:1/", "no connection to 127.0.0.1:1: connection refused; is RabbitMQ running there?"},
		{"amqp://u:canary@nohost.invalid/", "no connection to nohost.invalid:5672: "},
		{"amqp://u:canary@" + site + "/", "no connection to " + site + ": no answer in time; is RabbitMQ running there?"}, // it waits for the end of a line
		{"amqp://u:canary@" + post + "/", "no connection to " + post + ": what answers there is not RabbitMQ"},
		{"amqps://u:canary@" + site + "/", "no connection to " + site + ": the server does not speak TLS there"},
		{"amqps://u:canary@" + server.Host + "/", "no connection to " + server.Host + ": "},
		{"amqp://u:canary@" + deaf.Addr().String() + "/", "no connection to " + deaf.Addr().String() + ": no answer in time; is RabbitMQ running there?"},
		{"amqp://u:canary@" + closer.Listener.Addr().String() + "/", "no connection to " + closer.Listener.Addr().String() + ": the connection was closed before an answer came"},
		{stranger.String(), "no connection to " + server.Host + ": RabbitMQ "},
		{novhost.String(), "no connection to " + server.Host + ": RabbitMQ "},
	} {
		t.Run(row.address, func(t *testing.T) {
			t.Parallel()
			urls := map[core.Priority]string{}
			for _, p := range core.Priorities {
				urls[p] = row.address + "?queue=" + p.String()
			}
			queue, err := OpenQueue(t.Context(), urls, QueueOptions{})
			if err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			if strings.Contains(row.says, "in time") {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, time.Second)
				defer cancel()
			}
			for act, open := range map[string]func() error{
				"topic":        func() error { _, err := queue.OpenTopic(ctx, core.Default); return err },
				"subscription": func() error { _, err := queue.OpenSubscription(ctx, core.Default); return err },
			} {
				err := open()
				if err == nil || !strings.Contains(err.Error(), row.says) {
					t.Errorf("%s: %v, want %q", act, err, row.says)
					continue
				}
				for _, inside := range []string{"dial tcp", "connect:", "lookup", "context", "Exception", "frame", "tls:", "i/o", "canary"} {
					if strings.Contains(err.Error(), inside) {
						t.Errorf("%s speaks of the inside, %q: %v", act, inside, err)
					}
				}
			}
		})
	}
}
