// Command go receives Belfry's webhooks and verifies each with the Standard Webhooks library.
//
//	BELFRY_WEBHOOK_SECRET=whsec_... PORT=8090 go run .
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("BELFRY_WEBHOOK_SECRET"))
	if err != nil {
		log.Fatal("BELFRY_WEBHOOK_SECRET must be whsec_ and base64")
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	server := &http.Server{Handler: receive(webhook), ReadTimeout: 30 * time.Second}
	log.Fatal(server.Serve(listener))
}

func receive(webhook *standardwebhooks.Webhook) http.Handler {
	// Ids of jobs whose work is done. A real receiver keeps them in its database, in the transaction of the work.
	var done sync.Map
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || webhook.Verify(body, r.Header) != nil {
			w.WriteHeader(http.StatusUnauthorized) // not from Belfry, changed on the way, or too old
			return
		}
		id := r.Header.Get("webhook-id")
		if _, twice := done.LoadOrStore(id, true); !twice {
			fmt.Println("job", id) // the work: body is the payload, byte for byte
		}
		w.WriteHeader(http.StatusNoContent)
	})
}
