//go:build unix

package postgres

import (
	"crypto/tls"
	"net"
	"testing"
	"time"
)

// An idle connection is looked at without waiting, also while someone reads from it; its end and what it has to say are
// seen, and left where they are.
func TestQuiet(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	pair := func() (near, far net.Conn) {
		near, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if far, err = listener.Accept(); err != nil {
			t.Fatal(err)
		}
		return near, far
	}
	quiet := func(conn net.Conn) bool { return newIdleCheck(conn).quiet() }
	seen := func(conn net.Conn) func() bool { return func() bool { return !quiet(conn) } }

	near, far := pair()
	if !quiet(near) || !quiet(tls.Client(near, nil)) {
		t.Error("an idle connection is not quiet")
	}
	check := newIdleCheck(near)
	if n := testing.AllocsPerRun(100, func() { check.quiet() }); n > 0 {
		t.Errorf("a look allocates %.0f times", n)
	}
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, seen(near))
	awaitTrue(t, seen(tls.Client(near, nil)))
	if n, err := near.Read(make([]byte, 10)); n != 1 || err != nil {
		t.Errorf("what was there to be read is gone: %d, %v", n, err)
	}
	reading := make(chan error, 1)
	go func() {
		_, err := near.Read(make([]byte, 1))
		reading <- err
	}()
	for range 1000 {
		if !quiet(near) {
			t.Fatal("a connection that someone reads from is not quiet")
		}
	}
	if err := far.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-reading; err == nil {
		t.Error("nothing ended the read")
	}
	awaitTrue(t, seen(near))
}

func awaitTrue(t *testing.T, met func() bool) {
	t.Helper()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for range 10_000 {
		if met() {
			return
		}
		<-poll.C
	}
	t.Fatal("it never came to that")
}
