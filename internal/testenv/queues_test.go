package testenv

import (
	"net"
	"net/url"
	"os"
	"testing"
	"time"
)

func TestQueueServersAnswer(t *testing.T) {
	for name, address := range map[string]func(testing.TB) string{"sqs": SQS, "pubsub": PubSub, "rabbit": Rabbit} {
		t.Run(name, func(t *testing.T) {
			host := address(t)
			if u, err := url.Parse(host); err == nil && u.Host != "" {
				host = u.Host
			}
			conn, err := net.Dial("tcp", host)
			if err != nil {
				t.Fatal(err)
			}
			conn.Close()
		})
	}
}

// What a test started does not outlive it: neither its processes nor its folder.
func TestDaemonEndsWhenClosed(t *testing.T) {
	server, err := startRabbitHere()
	if err != nil {
		missing(t, "rabbit", err, "install rabbitmq-server")
	}
	d := server.held.(*daemon)
	u, err := url.Parse(server.address)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; {
		conn, dialErr := net.Dial("tcp", u.Host)
		if dialErr == nil {
			conn.Close()
		}
		if _, err := os.Stat(d.dir); dialErr != nil && os.IsNotExist(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still there: %v, %s", dialErr == nil, d.dir)
		}
		<-time.After(50 * time.Millisecond)
	}
}
