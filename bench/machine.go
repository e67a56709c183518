package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// describeMachine says on what the figures were taken.
func describeMachine() string {
	parts := []string{fmt.Sprintf("%d cores (%s), shared by the benchmark, the systems and PostgreSQL", runtime.NumCPU(), procField("/proc/cpuinfo", "model name"))}
	if kib, err := strconv.Atoi(strings.TrimSuffix(procField("/proc/meminfo", "MemTotal"), " kB")); err == nil {
		parts = append(parts, fmt.Sprintf("%d GiB of memory", (kib+1<<19)>>20))
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		parts = append(parts, runtime.GOOS+" "+strings.TrimSpace(string(kernel))+" "+runtime.GOARCH)
	}
	return strings.Join(parts, "; ")
}

// procField returns the first value of a "name: value" file, or "unknown".
func procField(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// describeServer names the server's version and the settings that decide how durable and how fast it is.
func describeServer(ctx context.Context, dsn string) string {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "PostgreSQL (version unknown: " + err.Error() + ")"
	}
	defer conn.Close(context.WithoutCancel(ctx))
	text := "PostgreSQL"
	for i, name := range []string{"server_version", "fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_wal_size"} {
		var value string
		if err := conn.QueryRow(ctx, `SELECT current_setting($1)`, name).Scan(&value); err != nil {
			continue
		}
		switch i {
		case 0:
			text += " " + value
		case 1:
			text += " (" + name + "=" + value
		default:
			text += ", " + name + "=" + value
		}
	}
	return text + ")"
}

// describeVersions names Go and the libraries that matter, as linked.
func describeVersions() string {
	parts := []string{runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return parts[0]
	}
	for _, module := range info.Deps {
		switch module.Path {
		case "github.com/riverqueue/river", "github.com/jackc/pgx/v5":
			parts = append(parts, module.Path+" "+module.Version)
		}
	}
	return strings.Join(parts, ", ")
}
