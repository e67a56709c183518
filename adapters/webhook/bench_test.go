package webhook

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// BenchmarkWork delivers over reused connections to a receiver in this process, which causes most of the cost.
func BenchmarkWork(b *testing.B) {
	r := newReceiver(b, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"ok":true}`) })
	w := newWebhook(b, Options{Guard: loopback(b), PerWait: time.Minute})
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := w.Work(b.Context(), jobFor(r)); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkCheckURL checks one URL, as every delivery does.
func BenchmarkCheckURL(b *testing.B) {
	g := newGuard(b, GuardOptions{})
	b.ReportAllocs()
	for b.Loop() {
		if err := g.CheckURL("https://hooks.example.com/belfry/in?tenant=7"); err != nil {
			b.Fatal(err)
		}
	}
}
