package testenv

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// composeVariable is the command to use, where there are several: "docker-compose" or "docker compose".
const composeVariable = "BELFRY_TEST_COMPOSE"

// Compose returns the command that starts a compose file, "docker compose" or else "docker-compose", and makes sure that
// an engine answers and has the images, or can get them. Its name in the list of required servers is "compose".
func Compose(t testing.TB, images ...string) []string {
	t.Helper()
	const howTo = "install and start Docker with Compose"
	if said, err := exec.CommandContext(t.Context(), "docker", "info").CombinedOutput(); err != nil {
		missing(t, "compose", fmt.Errorf("%w: %s", err, bytes.TrimSpace(said)), howTo)
	}
	commands := [][]string{{"docker", "compose"}, {"docker-compose"}}
	if named := strings.Fields(os.Getenv(composeVariable)); len(named) > 0 {
		commands = [][]string{named}
	}
	command, err := firstThatRuns(t, commands)
	if err != nil {
		missing(t, "compose", err, howTo)
	}
	for _, image := range images {
		if exec.CommandContext(t.Context(), "docker", "image", "inspect", image).Run() == nil {
			continue
		}
		if said, err := exec.CommandContext(t.Context(), "docker", "pull", "--quiet", image).CombinedOutput(); err != nil {
			missing(t, "compose", fmt.Errorf("the image %s: %w: %s", image, err, bytes.TrimSpace(said)), "let Docker reach a registry")
		}
	}
	return command
}

func firstThatRuns(t testing.TB, commands [][]string) (command []string, err error) {
	for _, command = range commands {
		// "docker compose version" of a Docker without Compose prints Docker's own help, and succeeds with some versions.
		var said []byte
		said, err = exec.CommandContext(t.Context(), command[0], append(command[1:len(command):len(command)], "version")...).CombinedOutput()
		if err == nil && bytes.Contains(bytes.ToLower(said), []byte("compose version")) {
			return command, nil
		}
		if err == nil {
			err = fmt.Errorf("%s is not there", strings.Join(command, " "))
		}
	}
	return nil, err
}
