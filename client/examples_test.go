package client_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// called are methods that encoding/json, errors and fmt call.
var called = []string{"Error", "Is", "As", "Unwrap", "String", "MarshalJSON", "UnmarshalJSON", "LogValue"}

// Every function that users call has an example that runs: one with output, or one listed in the table of a test.
func TestEveryFunctionHasAnExample(t *testing.T) {
	for _, dir := range []string{".", "belfrytx", "../handler", "../belfrytest"} {
		functions, examples := surface(t, dir)
		if len(functions) == 0 || len(examples) == 0 {
			t.Errorf("%s: %d functions, %d examples", dir, len(functions), len(examples))
		}
		for _, name := range functions {
			if !examples[name] {
				t.Errorf("%s: no Example%s", dir, name)
			}
		}
	}
}

// surface returns the exported functions of a package and its examples that run, with examples' names.
func surface(t *testing.T, dir string) (functions []string, examples map[string]bool) {
	t.Helper()
	examples = map[string]bool{}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			noteExamples(file, examples)
			continue
		}
		for _, declared := range file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Name.IsExported() {
				if named := exampleName(f); named != "" {
					functions = append(functions, named)
				}
			}
		}
	}
	slices.Sort(functions)
	return functions, examples
}

// noteExamples adds the examples of a test file that have output or are listed in the table of a test.
func noteExamples(file *ast.File, examples map[string]bool) {
	for _, e := range doc.Examples(file) {
		if e.Output != "" || e.EmptyOutput {
			examples[e.Name] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if table, ok := n.(*ast.CompositeLit); ok {
			for _, e := range table.Elts {
				if name, ok := e.(*ast.Ident); ok {
					examples[strings.TrimPrefix(name.Name, "Example")] = true
				}
			}
		}
		return true
	})
}

// exampleName returns the name of a function's example, or "" if users do not call the function.
func exampleName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if index, ok := of.(*ast.IndexExpr); ok {
		of = index.X
	}
	name, ok := of.(*ast.Ident)
	if !ok || !name.IsExported() || slices.Contains(called, f.Name.Name) {
		return ""
	}
	return name.Name + "_" + f.Name.Name
}
