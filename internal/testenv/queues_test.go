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

// What a test started does not outlive it: neither its processes nor its folder. And it lives on, at the same address,
// after it was killed and started again.
func TestServersEndWhenClosed(t *testing.T) {
	server := RabbitServer(t)
	u, err := url.Parse(server.Address())
	if err != nil {
		t.Fatal(err)
	}
	serves := func() bool {
		conn, err := net.Dial("tcp", u.Host)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}
	if err := server.Kill(); err != nil || serves() {
		t.Fatalf("killed, it serves %t, %v", serves(), err)
	}
	if err := server.Start(t.Context()); err != nil || !serves() {
		t.Fatalf("started again, it serves %t, %v", serves(), err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); serves(); {
		if time.Now().After(deadline) {
			t.Fatal("closed, it serves")
		}
		<-time.After(50 * time.Millisecond)
	}
	if _, err := os.Stat(server.Dir()); !os.IsNotExist(err) {
		t.Errorf("its folder is still there: %v", err)
	}
}
