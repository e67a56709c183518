package belfry_test

import (
	"bytes"
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	maxFileLines     = 400
	maxFunctionLines = 80
	maxTestLines     = 120 // of a test function, which may hold its table
)

func TestSizes(t *testing.T) {
	for _, file := range goFiles(t) {
		limit := maxFunctionLines
		if file.test {
			limit = maxTestLines
		}
		if lines := bytes.Count(file.text, []byte("\n")); lines > maxFileLines {
			t.Errorf("%s has %d lines, more than %d", file.path, lines, maxFileLines)
		}
		for _, declared := range file.ast.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := file.set.Position(function.End()).Line - file.set.Position(function.Pos()).Line + 1
			if lines > limit {
				t.Errorf("%s: %s has %d lines, more than %d", file.line(function.Pos()), function.Name.Name, lines, limit)
			}
		}
	}
}

func TestNamesSayTheConcept(t *testing.T) {
	vague := []string{"util", "utils", "common", "helper", "helpers", "types", "manager", "misc"}
	for _, file := range goFiles(t) {
		stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(file.path), ".go"), "_test")
		for _, name := range []string{stem, path.Base(file.dir()), file.ast.Name.Name} {
			if slices.Contains(vague, name) {
				t.Errorf("%s: the name %q says nothing", file.path, name)
			}
		}
	}
}

func TestCoreHasNoInitAndNoGlobalState(t *testing.T) {
	variables := map[string][]string{} // package-level variables by folder
	for _, file := range coreFiles(t) {
		for _, spec := range packageVariables(file) {
			for _, name := range spec.Names {
				variables[file.dir()] = append(variables[file.dir()], name.Name)
			}
			if holdsState(spec) {
				t.Errorf("%s: a package variable that holds state", file.line(spec.Pos()))
			}
		}
	}
	for _, file := range coreFiles(t) {
		for _, declared := range file.ast.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if function.Recv == nil && function.Name.Name == "init" {
				t.Errorf("%s: an init function", file.line(function.Pos()))
			}
			for _, written := range writes(file, function, variables[file.dir()]) {
				t.Errorf("%s: a package variable is written", file.line(written))
			}
		}
	}
}

func TestOnlyBootReadsTheEnvironment(t *testing.T) {
	for _, file := range goFiles(t) {
		product := within(file.dir(), "core") || within(file.dir(), "adapters") || within(file.dir(), "functions")
		if file.test || !product || within(file.dir(), "functions/boot") || within(file.dir(), "functions/host") || testSuite(file.dir()) {
			continue
		}
		for _, function := range []string{"Getenv", "LookupEnv", "Environ"} {
			for _, call := range uses(file, "os", function) {
				t.Errorf("%s: os.%s", file.line(call), function)
			}
		}
	}
}

func TestTestsDoNotSleep(t *testing.T) {
	bubbled := map[string]bool{} // folders whose tests run in bubbles of synctest
	for _, file := range goFiles(t) {
		if slices.Contains(file.imports(), "testing/synctest") {
			bubbled[file.dir()] = true
		}
	}
	for _, file := range goFiles(t) {
		if !file.test && !testSuite(file.dir()) || bubbled[file.dir()] {
			continue
		}
		for _, call := range uses(file, "time", "Sleep") {
			t.Errorf("%s: time.Sleep outside testing/synctest", file.line(call))
		}
	}
}

// coreFiles are the files of core that are built into programs.
func coreFiles(t *testing.T) []goFile {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(goFiles(t)), func(file goFile) bool {
		return file.test || !within(file.dir(), "core") || testSuite(file.dir())
	})
}

func packageVariables(file goFile) []*ast.ValueSpec {
	var found []*ast.ValueSpec
	for _, declared := range file.ast.Decls {
		group, ok := declared.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR || embedded(group) {
			continue
		}
		for _, spec := range group.Specs {
			if value, ok := spec.(*ast.ValueSpec); ok {
				found = append(found, value)
			}
		}
	}
	return found
}

// embedded reports whether a declaration is the content of a file, which Go lets stand nowhere else.
func embedded(group *ast.GenDecl) bool {
	return group.Doc != nil && slices.ContainsFunc(group.Doc.List, func(line *ast.Comment) bool {
		return strings.HasPrefix(line.Text, "//go:embed ")
	})
}

// holdsState reports whether a variable is made to change: a lock, an atomic, a
// pool, a channel, an empty map. A table that is filled where it stands is not.
func holdsState(spec *ast.ValueSpec) bool {
	found := false
	look := func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ChanType:
			found = true
		case *ast.CallExpr:
			if name, ok := n.Fun.(*ast.Ident); ok && (name.Name == "make" || name.Name == "new") {
				found = true
			}
		case *ast.CompositeLit:
			if _, ok := n.Type.(*ast.MapType); ok && len(n.Elts) == 0 {
				found = true
			}
		case *ast.SelectorExpr:
			if name, ok := n.X.(*ast.Ident); ok && (name.Name == "atomic" || name.Name == "sync") {
				found = true
			}
		}
		return true
	}
	ast.Inspect(spec, look)
	return found || len(spec.Values) == 0 && !blank(spec)
}

// blank reports whether a spec is a compile-time check, `var _ I = T{}`.
func blank(spec *ast.ValueSpec) bool {
	return len(spec.Names) == 1 && spec.Names[0].Name == "_"
}

// writes are the places where a function assigns to one of the package's
// variables or to a part of one. A name that is resolved to a local variable is
// not the package's.
func writes(file goFile, function *ast.FuncDecl, variables []string) []token.Pos {
	var found []token.Pos
	check := func(target ast.Expr) {
		name := root(target)
		if name != nil && slices.Contains(variables, name.Name) && !local(file, name) {
			found = append(found, name.Pos())
		}
	}
	ast.Inspect(function, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, target := range n.Lhs {
					check(target)
				}
			}
		case *ast.IncDecStmt:
			check(n.X)
		}
		return true
	})
	return found
}

// root is the variable that an assignment's target starts from: x of x.a[i].b.
func root(target ast.Expr) *ast.Ident {
	for {
		switch n := target.(type) {
		case *ast.Ident:
			return n
		case *ast.SelectorExpr:
			target = n.X
		case *ast.IndexExpr:
			target = n.X
		case *ast.ParenExpr:
			target = n.X
		case *ast.StarExpr:
			target = n.X
		default:
			return nil
		}
	}
}

// local reports whether the parser found the name's declaration inside a function.
func local(file goFile, name *ast.Ident) bool {
	return name.Obj != nil && name.Obj != file.ast.Scope.Lookup(name.Name)
}

// uses are the places where a file names a function of a package it imports.
func uses(file goFile, pkg, function string) []token.Pos {
	var found []token.Pos
	if !slices.Contains(file.imports(), pkg) {
		return nil
	}
	ast.Inspect(file.ast, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok || selector.Sel.Name != function {
			return true
		}
		if name, ok := selector.X.(*ast.Ident); ok && name.Name == pkg {
			found = append(found, selector.Pos())
		}
		return true
	})
	return found
}

// The migrations of each store are numbered 1, 2, 3, … : two that were written at the same time must not share a number.
func TestNamesOfMigrationsAreNumbered(t *testing.T) {
	for _, pattern := range []string{"adapters/postgres/migrations/*.sql", "adapters/sqlite/sql/migrations/*.sql"} {
		names, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, err)
		}
		for i, name := range names {
			number, _, _ := strings.Cut(filepath.Base(name), "_")
			if n, err := strconv.Atoi(number); err != nil || n != i+1 {
				t.Errorf("%s is number %d: give it that number", name, i+1)
			}
		}
	}
}
