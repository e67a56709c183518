package webhook

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/dnstest"
)

// listen serves each connection with handle until the test ends.
func listen(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			stop := context.AfterFunc(ctx, func() { conn.Close() })
			handle(conn)
			stop()
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		cancel()
		l.Close()
		<-done
	})
	return l.Addr().String()
}

// patience is how long a test waits for something that should happen at once.
const patience = 20 * time.Second

// silence reads until the other side closes the connection.
func silence(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// reply answers the request with text and then sends nothing more.
func reply(text string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4096))
		fmt.Fprint(conn, text)
		silence(conn)
	}
}

func TestEachStageTimesOut(t *testing.T) {
	const soon = 50 * time.Millisecond
	for name, c := range map[string]struct {
		limits Limits
		scheme string
		handle func(net.Conn)
		want   string
	}{
		"TLS":    {Limits{TLS: soon}, "https", silence, "timed out while connecting"},
		"answer": {Limits{Answer: soon}, "http", silence, "timed out waiting for the answer"},
		"header": {Limits{Answer: soon}, "http", reply("HTTP/1.1 200 OK\r\nX-A"), "timed out waiting for the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWebhook(t, Options{Guard: loopback(t), Limits: c.limits})
			address := listen(t, c.handle)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, err := w.Work(ctx, &core.Job{ID: 1, Target: targetOf(c.scheme + "://" + address + "/")})
			if want := "target " + address + ": " + c.want; err == nil || err.Error() != want || core.IsPermanent(err) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

// An endless body does not undo a 200: the target has done the work.
func TestSlowBodyIsCutOff(t *testing.T) {
	w := newWebhook(t, Options{Guard: loopback(t), Limits: Limits{Body: 50 * time.Millisecond}})
	address := listen(t, reply("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"a\":"))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if result, err := w.Work(ctx, &core.Job{ID: 1, Target: targetOf("http://" + address + "/")}); result != nil || !strings.Contains(note(t, err), "its result was lost") || ctx.Err() != nil {
		t.Errorf("%s, %v, %v", result, err, ctx.Err())
	}
}

// After a 101 the answer's body is the bare connection, and no timeout ends a read of it. A target that sent a 101 and then
// nothing could hold its worker, its slot at the host and a connection as long as it liked.
func TestSwitchOfProtocolsHoldsNobody(t *testing.T) {
	w := newWebhook(t, Options{Guard: loopback(t), Limits: Limits{Body: 50 * time.Millisecond}})
	address := listen(t, reply("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"))
	ended := make(chan error, 1)
	go func() {
		_, err := w.Work(t.Context(), &core.Job{ID: 1, Target: targetOf("http://" + address + "/")})
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "101") || core.IsPermanent(err) {
			t.Errorf("%v", err)
		}
	case <-time.After(patience):
		t.Fatal("the delivery lasts as long as the target is silent")
	}
}

// Resolving and connecting share one bound.
func TestDialTimesOut(t *testing.T) {
	mute, err := net.ListenPacket("udp", "127.0.0.1:0") // a name server that never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mute.Close() })
	w := newWebhook(t, Options{Guard: newGuard(t, GuardOptions{Resolver: dnstest.At(mute.LocalAddr().String()), DialTimeout: 50 * time.Millisecond})})
	_, err = w.Work(t.Context(), &core.Job{ID: 1, Target: targetOf("http://slow.example.com/")})
	if err == nil || !strings.Contains(err.Error(), "could not be looked up") {
		t.Errorf("%v", err)
	}
}

// A job's own timeout may end the wait for the answer before the limit, but never later. So a target that never answers
// holds its worker's slot no longer than the operator allows, however long the jobs' timeouts are.
func TestTimeoutOfTheJobOnlyShortensTheLimit(t *testing.T) {
	late := make(chan struct{})
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) { <-late })
	t.Cleanup(func() { close(late) })
	for limit, timeout := range map[time.Duration]time.Duration{50 * time.Millisecond: 24 * time.Hour, 25 * time.Hour: 50 * time.Millisecond, 51 * time.Millisecond: 0} {
		w := newWebhook(t, Options{Guard: loopback(t), Limits: Limits{Answer: limit}})
		job := jobFor(r)
		job.Timeout = timeout
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err := w.Work(ctx, job)
		cancel()
		if err == nil || !strings.HasSuffix(err.Error(), "timed out waiting for the answer") {
			t.Errorf("limit %s, the job's timeout %s: %v", limit, timeout, err)
		}
	}
}

// The error contains neither a server's text that is not HTTP nor the details of a network error.
func TestFaultsAreToldInOurWords(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	answer := func(text string) string {
		return listen(t, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 4096))
			fmt.Fprint(c, text)
			_ = c.(*net.TCPConn).CloseWrite()
			silence(c)
		})
	}
	for url, want := range map[string]string{
		"http://" + gone.Addr().String():                              "connection refused",
		"http://" + answer(""):                                        "the connection was closed before an answer came",
		"http://" + answer("SSH-2.0-canary\r\n"):                      "the connection failed, or the answer was not HTTP",
		"http://" + answer("HTTP/1.1 200 OK\r\ncanary: \x00\r\n\r\n"): "the connection failed, or the answer was not HTTP",
		"https://" + answer("HTTP/1.1 400 canary\r\n\r\n"):            "the target does not speak TLS",
	} {
		w := newWebhook(t, Options{Guard: loopback(t), TLS: &tls.Config{MinVersion: tls.VersionTLS12}})
		_, err := w.Work(t.Context(), &core.Job{ID: 1, Payload: []byte(`"canary"`), Target: targetOf(url + "/canary?canary")})
		if err == nil || !strings.HasSuffix(err.Error(), ": "+want) || strings.Contains(err.Error(), "canary") || core.IsPermanent(err) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}
