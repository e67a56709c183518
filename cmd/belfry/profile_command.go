package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
)

// profileCommands are those that keep servers by name. They call none.
func (a *app) profileCommands() *cobra.Command {
	g := group("profiles", "Servers by name, with their tokens", a.profileListCommand(), a.profileSetCommand(), a.profileDeleteCommand())
	g.Long = `Servers by name, with their tokens, in a file of the user's own that nobody else may read.

--profile NAME or BELFRY_PROFILE takes one; without either the one named "default" is taken, if there is one. A flag
goes before the environment, and the environment before a profile.`
	return g
}

type profileDoc struct {
	Name  string `json:"name"`
	URL   string `json:"url"`
	Token bool   `json:"token"` // there is one; it is never shown
}

func (a *app) profileListCommand() *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List profiles, never their tokens", Args: counted(0, 0, "no arguments"), RunE: func(*cobra.Command, []string) error {
		known, err := readProfiles()
		if err != nil {
			return err
		}
		var rows [][]string
		for _, name := range slices.Sorted(maps.Keys(known.byName)) {
			p := known.byName[name]
			if a.json {
				if err := a.printValue(profileDoc{name, p.URL, p.Token != ""}); err != nil {
					return err
				}
				continue
			}
			rows = append(rows, []string{name, p.URL, map[bool]string{true: "kept", false: "none"}[p.Token != ""]})
		}
		switch {
		case a.json:
		case len(rows) == 0:
			fmt.Fprintln(a.out, "no profiles")
		default:
			writeTable(a.out, a.width(), columns("NAME…", "URL…", "TOKEN"), rows)
		}
		return nil
	}}
}

func (a *app) profileSetCommand() *cobra.Command {
	var from string
	c := &cobra.Command{Use: "set NAME", Short: "Make a profile, or change what the flags say of it", Args: counted(1, 1, "a name"),
		Long: `Make a profile, or change what the flags say of it: its address by --url, its token by --token-file. Another address
takes the token away, unless a token comes with it.`,
		Example: "  belfry tokens create --name me --role submit | belfry profiles set prod --url https://belfry.example --token-file -"}
	flagsOf(c).path(&from, "token-file", "file that holds the token; - for standard input")
	c.RunE = func(c *cobra.Command, args []string) error {
		name := args[0]
		if !profileName.MatchString(name) {
			return usage("a profile's name must be 1 to 64 of A-Z a-z 0-9 _ . - and begin with a letter or digit")
		}
		known, err := readProfiles()
		if err != nil {
			return err
		}
		p := known.byName[name]
		if address := client.BaseAddress(a.address); c.Flags().Changed("url") && address != client.BaseAddress(p.URL) {
			p = profile{URL: address}
		}
		if p.URL == "" {
			return usage("%s wants --url: there is no such profile yet", c.CommandPath())
		}
		addressFrom, tokenFrom := fmt.Sprintf("the profile %q", name), fmt.Sprintf("the profile %q", name)
		if c.Flags().Changed("url") {
			addressFrom = "--url"
		}
		if c.Flags().Changed("token") {
			p.Token, tokenFrom = a.token, "--token"
		}
		if from != "" {
			if p.Token, err = a.readToken(from); err != nil {
				return err
			}
			tokenFrom = "--token-file"
		}
		if err := endpointFault(p.URL, addressFrom, p.Token, tokenFrom); err != nil {
			return err
		}
		known.byName[name] = p
		if err := known.write(); err != nil {
			return err
		}
		if a.json {
			return a.printValue(profileDoc{name, p.URL, p.Token != ""})
		}
		fmt.Fprintf(a.out, "profile %s is kept in %s\n", clean(name), clean(known.path))
		return nil
	}
	return c
}

// readToken reads a token from a file, its last line's end left out.
func (a *app) readToken(name string) (string, error) {
	const most = 4096
	in := a.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return "", usage("--token-file: %s: %s", name, fileReason(err))
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return "", usage("--token-file: %s", err)
	}
	plain, err := plainText(text)
	if err != nil {
		return "", usage("--token-file %s", err)
	}
	token := strings.TrimSpace(string(plain))
	if token == "" || len(text) == most {
		return "", usage("--token-file must hold a token, and nothing else")
	}
	return token, nil
}

func (a *app) profileDeleteCommand() *cobra.Command {
	var yes, dry bool
	c := &cobra.Command{Use: "delete NAME", Short: "Forget a profile and its token", Args: counted(1, 1, "a name")}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what would be forgotten")
	c.RunE = func(_ *cobra.Command, args []string) error {
		known, err := readProfiles()
		if err != nil {
			return err
		}
		p, found := known.byName[args[0]]
		if !found {
			return fmt.Errorf("%w: there is no profile %q", client.ErrNotFound, args[0])
		}
		question := fmt.Sprintf("the profile %s of %s would be forgotten", args[0], p.URL)
		if dry {
			return a.counted("would_delete", 1, question)
		}
		if err := a.sure(yes, question); err != nil {
			return err
		}
		delete(known.byName, args[0])
		if err := known.write(); err != nil {
			return err
		}
		if a.json {
			return a.printValue(map[string]string{"deleted": args[0]})
		}
		fmt.Fprintf(a.out, "profile %s is forgotten\n", clean(args[0]))
		return nil
	}
	return c
}
