package containers

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
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
		var got, all int64
		if m.Progress != nil {
			got, all = m.Progress.Current, m.Progress.Total
		}
		layers.note(m.ID, m.Status, got, all)
		if time.Since(told) >= tellEvery {
			tell(layers.String() + " of " + image)
			told = time.Now()
		}
	}
	tell("pulled " + image)
	return nil
}

// layers are how far the layers of an image are.
type layers map[string]layer

type layer struct {
	got, all int64
	done     bool
}

// note takes one message of an engine.
func (l layers) note(id, status string, got, all int64) {
	if id == "" || strings.HasPrefix(status, "Pulling from") { // of the image as a whole
		return
	}
	now := l[id]
	switch status {
	case "Downloading":
		now.got, now.all = got, max(all, now.all)
	case "Download complete":
		now.got = now.all
	case "Pull complete", "Already exists":
		now.got, now.done = now.all, true
	}
	l[id] = now
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
