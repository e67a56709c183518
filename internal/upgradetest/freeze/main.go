// Command freeze writes testdata/previous.tar.gz: the source, at a commit, of the program that the next version must leave
// working. Run it at the root of the repository.
package main

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	archive = "internal/upgradetest/testdata/previous.tar.gz"
	module  = "github.com/belfry-dev/belfry"
)

// roots are the packages that the suites need, suites the test files that are kept.
var (
	roots  = []string{"./adapters/postgres", "./adapters/sqlite", "./core/storetest", "./internal/testenv", "./internal/nodetest"}
	suites = []string{"adapters/postgres/store_test.go", "adapters/sqlite/store_test.go"}
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/upgradetest/freeze COMMIT")
		os.Exit(2)
	}
	if err := freeze(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "freeze:", err)
		os.Exit(1)
	}
}

func freeze(commit string) (err error) {
	tree, err := os.MkdirTemp("", "belfry-previous-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tree) }()
	if err := run(".", "sh", "-c", "git archive "+commit+" | tar -x -C "+tree); err != nil {
		return err
	}
	files, err := needed(tree)
	if err != nil {
		return err
	}
	return write(tree, files)
}

// needed lists the files to keep, by their names below the tree.
func needed(tree string) ([]string, error) {
	const each = `{{if .Module}}{{if eq .Module.Path "` + module + `"}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}
{{end}}{{range .IgnoredGoFiles}}{{$d}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}
{{end}}{{end}}{{end}}`
	list := exec.Command("go", append([]string{"list", "-deps", "-f", each}, roots...)...)
	list.Dir = tree
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	files := append([]string{"go.mod", "go.sum"}, suites...)
	for line := range strings.Lines(string(out)) {
		name := strings.TrimSpace(line)
		if name == "" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if name, err = filepath.Rel(tree, name); err != nil {
			return nil, err
		}
		files = append(files, filepath.ToSlash(name))
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// write packs the files, without anything that differs from one run to the next.
func write(tree string, files []string) (err error) {
	out, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}()
	zipped, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	packed := tar.NewWriter(zipped)
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(tree, name))
		if err != nil {
			return err
		}
		if err := packed.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			return err
		}
		if _, err := packed.Write(text); err != nil {
			return err
		}
	}
	if err := packed.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

func run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	return cmd.Run()
}
