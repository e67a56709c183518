package queueserver

import (
	"context"
	_ "embed" // fitMoto
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// fitMoto is run by Python before moto.
//
//go:embed fit_moto.py
var fitMoto []byte

// StartMoto starts moto's server, which speaks SQS. Its address is an endpoint, http://host:port. It keeps its messages in
// memory.
func StartMoto() (*Server, error) {
	path, err := exec.LookPath("moto_server")
	if err != nil {
		return nil, fmt.Errorf("moto_server: %w", ErrNotInstalled)
	}
	return start(func(dir string, port, _ int) (env, command []string) {
		_ = os.WriteFile(filepath.Join(dir, "sitecustomize.py"), fitMoto, 0o600) // without it moto is as it is
		return []string{"PYTHONPATH=" + dir}, []string{path, "-H", "127.0.0.1", "-p", strconv.Itoa(port)}
	}, answersHTTP, "http://%s")
}

// sdkPlaces are where packages put the gcloud SDK.
var sdkPlaces = []string{"/usr/lib/google-cloud-sdk", "/usr/share/google-cloud-sdk", "/opt/google-cloud-sdk", "/snap/google-cloud-cli/current"}

// StartPubSub starts the Pub/Sub emulator of the gcloud SDK. Its address is host:port. It keeps its messages in memory.
func StartPubSub() (*Server, error) {
	places := sdkPlaces
	if gcloud, err := exec.LookPath("gcloud"); err == nil {
		if resolved, err := filepath.EvalSymlinks(gcloud); err == nil {
			places = append([]string{filepath.Dir(filepath.Dir(resolved))}, places...)
		}
	}
	for _, place := range places {
		path := filepath.Join(place, "platform", "pubsub-emulator", "bin", "cloud-pubsub-emulator")
		if _, err := os.Stat(path); err != nil {
			continue
		}
		return start(func(_ string, port, _ int) (env, command []string) {
			return []string{"JAVA_OPTS=-Xmx512m"}, []string{path, "--host=127.0.0.1", "--port=" + strconv.Itoa(port)}
		}, answersHTTP, "%s")
	}
	return nil, fmt.Errorf("pubsub-emulator: %w", ErrNotInstalled)
}

// answersHTTP is ready once something answers a request, whatever it says.
func answersHTTP(ctx context.Context, port int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+local(port)+"/", nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}
