package testenv

import (
	"fmt"
	"testing"

	"github.com/belfry-dev/belfry/internal/containers/engine"
)

// Image makes sure that an engine answers and has an image already, where a test is not to pull one unasked. The server's
// name in the list of required servers is name.
func Image(t testing.TB, name, image string) {
	t.Helper()
	if err := engine.Answers(t.Context()); err != nil {
		missing(t, name, err, "install and start Docker")
	}
	if !engine.HasImage(t.Context(), image) {
		missing(t, name, fmt.Errorf("the image %s is not on this machine", image), "docker pull "+image)
	}
}
