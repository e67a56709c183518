package containers

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

const (
	startTimeout = 3 * time.Minute // of a server, on a busy machine
	tellEvery    = 3 * time.Second // while an image is pulled
)

// haveImage pulls an image where the engine does not have it, and tells how far that is.
func haveImage(ctx context.Context, image string, tell func(string)) error {
	engine, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	if _, err := engine.ImageInspect(ctx, image); err == nil {
		return nil
	}
	tell("pulling " + image + ", the first time on this machine")
	pulling, err := engine.ImagePull(ctx, image, client.ImagePullOptions{RegistryAuth: registryAuth(ctx, image)})
	if err != nil {
		return err
	}
	defer pulling.Close()
	layers, told := layers{}, time.Now()
	for m, err := range pulling.JSONMessages(ctx) {
		if err != nil {
			return err
		}
		if m.Error != nil {
			return m.Error
		}
		if m.ID == "" {
			continue
		}
		layer := layers[m.ID]
		if m.Progress != nil && m.Progress.Total > 0 && m.Status == "Downloading" {
			layer.got, layer.all = m.Progress.Current, m.Progress.Total
		}
		if m.Status == "Download complete" || m.Status == "Pull complete" || m.Status == "Already exists" {
			layer.got = layer.all
		}
		layer.done = m.Status == "Pull complete" || m.Status == "Already exists"
		layers[m.ID] = layer
		if time.Since(told) >= tellEvery {
			tell(layers.String() + " of " + image)
			told = time.Now()
		}
	}
	tell("pulled " + image)
	return nil
}

// layers are how far the layers of an image are.
type layers map[string]struct {
	got, all int64
	done     bool
}

func (l layers) String() string {
	var got, all int64
	done := 0
	for _, layer := range l {
		got, all = got+layer.got, all+layer.all
		if layer.done {
			done++
		}
	}
	return fmt.Sprintf("%d of %d MB, %d of %d layers", got>>20, all>>20, done, len(l))
}

// registryAuth is what the machine's own settings say to the image's registry; nothing for most.
func registryAuth(ctx context.Context, image string) string {
	_, auth, err := testcontainers.DockerImageAuth(ctx, image)
	if err != nil {
		return ""
	}
	text, err := json.Marshal(auth)
	if err != nil {
		return ""
	}
	return base64.URLEncoding.EncodeToString(text)
}
