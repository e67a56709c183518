package belfry_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// goFile is one parsed source file of the repository, of any of its modules.
type goFile struct {
	path string // from the root, with slashes
	test bool
	text []byte
	set  *token.FileSet
	ast  *ast.File
}

func (f goFile) dir() string { return path.Dir(f.path) }

// imports are the file's imports, those of this module without its path.
func (f goFile) imports() []string {
	var found []string
	for _, spec := range f.ast.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has checked it
		}
		found = append(found, strings.TrimPrefix(imported, module))
	}
	return found
}

// line is a position as "file:line".
func (f goFile) line(pos token.Pos) string {
	return f.path + ":" + strconv.Itoa(f.set.Position(pos).Line)
}

// parsed holds every Go file that is not generated, read once for all tests.
var parsed = sync.OnceValues(func() ([]goFile, error) {
	var files []goFile
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if skipped := entry.Name() == "testdata" || entry.Name() == "node_modules"; skipped || name != "." && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parse(filepath.ToSlash(name))
		if err == nil && !ast.IsGenerated(file.ast) {
			files = append(files, file)
		}
		return err
	})
	return files, err
})

func parse(name string) (goFile, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return goFile{}, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, text, parser.ParseComments)
	if err != nil {
		return goFile{}, err
	}
	return goFile{path: name, test: strings.HasSuffix(name, "_test.go"), text: text, set: set, ast: tree}, nil
}

func goFiles(t *testing.T) []goFile {
	t.Helper()
	files, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no Go files found: these tests run at the root of the repository")
	}
	return files
}

// trackedTexts are the text files that git knows of, by name.
func trackedTexts(t *testing.T) map[string][]byte {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("left out, because it needs a git checkout: %v", err)
	}
	texts := map[string][]byte{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(text, 0) < 0 {
			texts[name] = text
		}
	}
	return texts
}
