package sqlite

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed sql/*.sql
var statementFiles embed.FS

// statements maps the name of each file in sql to its text.
var statements = mustReadStatements()

func mustReadStatements() map[string]string {
	entries, err := statementFiles.ReadDir("sql")
	if err != nil {
		panic(err) // embedded: there or the program was not built
	}
	texts := make(map[string]string, len(entries))
	for _, entry := range entries {
		text, err := statementFiles.ReadFile("sql/" + entry.Name())
		if err != nil {
			panic(err)
		}
		texts[strings.TrimSuffix(entry.Name(), ".sql")] = strings.TrimSpace(string(text))
	}
	addApart(texts)
	addLists(texts)
	return texts
}

// statement returns the text of a statement: a file's, or the name itself for the few that need no file,
// like BEGIN IMMEDIATE and pragmas.
func statement(name string) (string, error) {
	if text, ok := statements[name]; ok {
		return text, nil
	}
	if strings.ToUpper(name[:1]) == name[:1] {
		return name, nil
	}
	return "", fmt.Errorf("no statement is named %s", name)
}
