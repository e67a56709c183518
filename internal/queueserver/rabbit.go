package queueserver

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// rabbitScript runs a port mapper of its own beside the server, which would otherwise start one that outlives it.
const rabbitScript = `epmd -address 127.0.0.1 -port "$ERL_EPMD_PORT" & exec "$1"`

// StartRabbit starts the RabbitMQ that is installed on this machine. Its address is a URL, amqp://user:password@host:port/.
// Killed and started again it has its queues and what was persistent in them.
func StartRabbit() (*Server, error) {
	program, err := findRabbit()
	if err != nil {
		return nil, err
	}
	mapper, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	return start(func(dir string, port, other int) (env, command []string) {
		plugins := filepath.Join(dir, "plugins")
		_ = os.WriteFile(plugins, []byte("[].\n"), 0o600) // without it the server says what is missing
		config := filepath.Join(dir, "rabbitmq.conf")
		_ = os.WriteFile(config, []byte("loopback_users = none\nvm_memory_high_watermark.absolute = 1GB\ndisk_free_limit.absolute = 50MB\n"), 0o600)
		return []string{
			"HOME=" + dir,
			"ERL_EPMD_PORT=" + strconv.Itoa(mapper[0]),
			"ERL_EPMD_ADDRESS=127.0.0.1",
			"RABBITMQ_NODENAME=belfry-" + strconv.Itoa(port) + "@localhost",
			"RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
			"RABBITMQ_NODE_PORT=" + strconv.Itoa(port),
			"RABBITMQ_DIST_PORT=" + strconv.Itoa(other),
			"RABBITMQ_BASE=" + dir,
			"RABBITMQ_HOME_DIR=" + dir,
			"RABBITMQ_MNESIA_BASE=" + filepath.Join(dir, "data"),
			"RABBITMQ_LOG_BASE=" + filepath.Join(dir, "logs"),
			"RABBITMQ_LOGS=-",
			"RABBITMQ_PID_FILE=" + filepath.Join(dir, "pid"),
			"RABBITMQ_GENERATED_CONFIG_DIR=" + filepath.Join(dir, "config"),
			"RABBITMQ_ENABLED_PLUGINS_FILE=" + plugins,
			"RABBITMQ_CONFIG_FILE=" + config,
			"RABBITMQ_CONF_ENV_FILE=/dev/null",
			"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 2:2 -kernel inet_dist_use_interface {127,0,0,1}",
		}, []string{"/bin/sh", "-c", rabbitScript, "sh", program}
	}, speaksAMQP, "amqp://guest:guest@%s/")
}

// findRabbit prefers the server itself to the wrapper that Debian puts on PATH, which runs it as another user with
// the settings of the machine's own server.
func findRabbit() (string, error) {
	for _, pattern := range []string{"/usr/lib/rabbitmq/bin/rabbitmq-server", "/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server", "/opt/homebrew/opt/rabbitmq/sbin/rabbitmq-server"} {
		if places, _ := filepath.Glob(pattern); len(places) > 0 {
			return places[len(places)-1], nil
		}
	}
	program, err := exec.LookPath("rabbitmq-server")
	if err != nil {
		return "", fmt.Errorf("rabbitmq-server: %w", ErrNotInstalled)
	}
	return program, nil
}

// speaksAMQP is ready once the server answers the protocol's greeting with its first frame.
func speaksAMQP(ctx context.Context, port int) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", local(port))
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte("AMQP\x00\x00\x09\x01")); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).Peek(1)
	if err != nil {
		return err
	}
	if answer[0] != 1 {
		return fmt.Errorf("the server answered %q", strings.TrimSpace(string(answer)))
	}
	return nil
}
