// Command terraformdocs writes the inputs and outputs of the Terraform modules into their README.md, between two marks. It
// reads code as `terraform fmt` leaves it. Run it in the root of the repository.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	beginMark = "<!-- made from the code by go run ./internal/terraformdocs -->"
	endMark   = "<!-- end -->"
)

func main() {
	modules, err := filepath.Glob(filepath.Join("infra", "terraform", "*", "README.md"))
	for i := 0; err == nil && i < len(modules); i++ {
		err = write(filepath.Dir(modules[i]))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write brings a module's README.md up to date.
func write(dir string) error {
	name := filepath.Join(dir, "README.md")
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("terraformdocs: %w", err)
	}
	made, err := Document(dir, string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(made), 0o600)
}

// Document is the text of a README.md with what a module's code says now.
func Document(dir, text string) (string, error) {
	before, rest, found := strings.Cut(text, beginMark)
	_, after, ended := strings.Cut(rest, endMark)
	if !found || !ended {
		return "", fmt.Errorf("terraformdocs: %s: README.md lacks the marks %s and %s", dir, beginMark, endMark)
	}
	var out strings.Builder
	out.WriteString(before + beginMark + "\n\n")
	inputs, err := blocks(filepath.Join(dir, "variables.tf"), "variable")
	if err != nil {
		return "", err
	}
	outputs, err := blocks(filepath.Join(dir, "outputs.tf"), "output")
	if err != nil {
		return "", err
	}
	out.WriteString("## Inputs\n\nAll have a default, but those marked required. Parts of an object that are left out have the default that is given.\n")
	for _, b := range inputs {
		fmt.Fprintf(&out, "\n### %s\n\n%s\n\n```hcl\n%s\n```\n", b.name, b.description, b.signature())
		if len(b.rules) > 0 {
			out.WriteString("\n")
			for _, rule := range b.rules {
				fmt.Fprintf(&out, "- %s\n", rule)
			}
		}
	}
	out.WriteString("\n## Outputs\n\n| name | what |\n| --- | --- |\n")
	for _, b := range outputs {
		fmt.Fprintf(&out, "| `%s` | %s |\n", b.name, b.description)
	}
	out.WriteString("\n" + endMark + after)
	return out.String(), nil
}

// block is one variable or output.
type block struct {
	name, description, kind, preset string
	rules                           []string // what its values are refused with
}

// signature is the type, and the default where there is one.
func (b block) signature() string {
	if b.preset == "" {
		return "type = " + b.kind + " # required"
	}
	return "type    = " + b.kind + "\ndefault = " + b.preset
}

var head = regexp.MustCompile(`^(variable|output) "([a-z0-9_]+)" \{$`)

// blocks reads the blocks of one kind of a file.
func blocks(file, kind string) ([]block, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("terraformdocs: %w", err)
	}
	var found []block
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		at := head.FindStringSubmatch(lines[i])
		if at == nil || at[1] != kind {
			continue
		}
		b := block{name: at[2]}
		for i++; i < len(lines) && lines[i] != "}"; i++ {
			name, value, ok := strings.Cut(strings.TrimSpace(lines[i]), "=")
			if !ok {
				continue
			}
			value = strings.TrimSpace(value)
			indent := len(lines[i]) - len(strings.TrimLeft(lines[i], " "))
			switch name = strings.TrimSpace(name); {
			case name == "description" && value == "<<-EOT":
				b.description, i = heredoc(lines, i)
			case name == "description":
				b.description = unquoted(value)
			case name == "type" && indent == 2:
				b.kind, i = expression(lines, i, value)
			case name == "default" && indent == 2:
				b.preset, i = expression(lines, i, value)
			case name == "error_message":
				b.rules = append(b.rules, unquoted(value))
			}
		}
		if b.description == "" {
			return nil, fmt.Errorf("terraformdocs: %s: %s %q has no description", file, kind, b.name)
		}
		found = append(found, b)
	}
	return found, nil
}

// heredoc is the text of one that begins in line i, as one paragraph, and its last line.
func heredoc(lines []string, i int) (string, int) {
	var words []string
	for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "EOT"; i++ {
		words = append(words, strings.TrimSpace(lines[i]))
	}
	return strings.Join(words, " "), i
}

// expression is one that begins in line i with value, and its last line.
func expression(lines []string, i int, value string) (string, int) {
	depth := strings.Count(value, "(") + strings.Count(value, "{") + strings.Count(value, "[") - strings.Count(value, ")") - strings.Count(value, "}") - strings.Count(value, "]")
	for depth > 0 && i+1 < len(lines) {
		i++
		line := strings.TrimPrefix(lines[i], "  ")
		value += "\n" + line
		depth += strings.Count(line, "(") + strings.Count(line, "{") + strings.Count(line, "[") - strings.Count(line, ")") - strings.Count(line, "}") - strings.Count(line, "]")
	}
	return value, i
}

// unquoted is a string's text.
func unquoted(value string) string {
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(strings.TrimSuffix(strings.TrimPrefix(value, `"`), `"`))
}
