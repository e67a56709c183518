package main

import (
	"archive/zip"
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTwoFoldersOneZip: the same source in two folders packs to the same bytes, small enough for Lambda.
func TestTwoFoldersOneZip(t *testing.T) {
	program := filepath.Join(t.TempDir(), "lambdazip")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var zips [2][]byte
	for i, dir := range []string{filepath.Join(t.TempDir(), "here"), filepath.Join(t.TempDir(), "else", "where")} {
		copyModule(t, root, dir)
		root = dir // of the first the second is a copy: someone may be at work on the source
		out := t.TempDir()
		pack := exec.CommandContext(t.Context(), program, "-out", out, "-functions", "worker", "-arch", "arm64")
		pack.Dir = dir
		said, err := pack.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		t.Logf("%s", said)
		if zips[i], err = os.ReadFile(filepath.Join(out, "worker-arm64.zip")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(zips[0], zips[1]) {
		t.Error("the zips of two folders differ")
	}
	if len(zips[0]) > most {
		t.Errorf("the zip has %d bytes, more than %d", len(zips[0]), most)
	}
	r, err := zip.NewReader(bytes.NewReader(zips[0]), int64(len(zips[0])))
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]os.FileMode{}
	for _, f := range r.File {
		held[f.Name] = f.Mode()
	}
	if want := map[string]os.FileMode{"bootstrap": 0o755, "rds.pem": 0o644}; !maps.Equal(held, want) {
		t.Errorf("it holds %v", held)
	}
}

// copyModule copies what is built.
func copyModule(t *testing.T, from, to string) {
	t.Helper()
	for _, dir := range []string{"core", "adapters", "functions", "handler", "internal"} {
		if err := os.CopyFS(filepath.Join(to, dir), os.DirFS(filepath.Join(from, dir))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
