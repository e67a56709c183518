// Command lambdazip builds the functions for AWS Lambda into zips that are the same, byte for byte, whatever the
// machine and the folder: dist/FUNCTION-ARCHITECTURE.zip with the program, bootstrap, and the root certificates of Amazon
// RDS, rds.pem. Run it in the module's folder.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// most is how large a zip may be.
const most = 12 << 20

func main() {
	out := flag.String("out", "dist", "folder for the zips")
	functions := flag.String("functions", "api,tick,worker,migrate", "what to build, with commas")
	architectures := flag.String("arch", "arm64,amd64", "for which architectures, with commas")
	flag.Parse()
	for function := range strings.SplitSeq(*functions, ",") {
		for arch := range strings.SplitSeq(*architectures, ",") {
			if err := pack(context.Background(), *out, function, arch); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
}

// pack builds one function and tells its size and sum.
func pack(ctx context.Context, out, function, arch string) error {
	dir, err := os.MkdirTemp("", "belfry-package-")
	if err != nil {
		return fmt.Errorf("package: %w", err)
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "bootstrap")
	build := exec.CommandContext(ctx, "go", "build", "-tags", "lambda.norpc", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", binary, "./functions/"+function+"/lambda")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=-mod=readonly", "GOEXPERIMENT=")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("package %s for %s: %w", function, arch, err)
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("package: %w", err)
	}
	roots, err := os.ReadFile(filepath.Join("adapters", "aws", "rds.pem"))
	if err != nil {
		return fmt.Errorf("package: %w", err)
	}
	packed, err := zipped(text, roots)
	if err != nil {
		return fmt.Errorf("package: %w", err)
	}
	name := filepath.Join(out, function+"-"+arch+".zip")
	if err := os.MkdirAll(out, 0o750); err != nil {
		return fmt.Errorf("package: %w", err)
	}
	if err := os.WriteFile(name, packed, 0o600); err != nil {
		return fmt.Errorf("package: %w", err)
	}
	fmt.Printf("%-24s %6.2f MiB (unpacked %.2f)  sha256 %x\n", name, mebibytes(packed), mebibytes(text), sha256.Sum256(packed))
	if len(packed) > most {
		return fmt.Errorf("package: %s is larger than %d MiB", name, most>>20)
	}
	return nil
}

// zipped packs a program, and certificates beside it, as Lambda wants them, with nothing in it of when and by whom.
func zipped(program, roots []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, f := range []struct {
		name string
		mode os.FileMode
		text []byte
	}{{"bootstrap", 0o755, program}, {"rds.pem", 0o644, roots}} {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)}
		header.SetMode(f.mode)
		file, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(f.text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

func mebibytes(b []byte) float64 { return float64(len(b)) / (1 << 20) }
