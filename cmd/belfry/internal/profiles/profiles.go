// Package profiles is belfry profiles: servers by name, with their tokens.
package profiles

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

// Command are those that keep servers by name. They call none.
// Command are the commands about profiles.
func Command(a *console.App) *cobra.Command {
	g := console.Group("profiles", "Servers by name, with their tokens", profileListCommand(a), profileSetCommand(a), profileDeleteCommand(a))
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

func profileListCommand(a *console.App) *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List profiles, never their tokens", Args: console.Args(0, 0, "no arguments"), RunE: func(*cobra.Command, []string) error {
		known, err := console.ReadProfiles()
		if err != nil {
			return err
		}
		var rows [][]string
		for _, name := range slices.Sorted(maps.Keys(known.ByName)) {
			p := known.ByName[name]
			if a.JSON {
				if err := a.PrintValue(profileDoc{name, p.URL, p.Token != ""}); err != nil {
					return err
				}
				continue
			}
			rows = append(rows, []string{name, p.URL, map[bool]string{true: "kept", false: "none"}[p.Token != ""]})
		}
		switch {
		case a.JSON:
		case len(rows) == 0:
			fmt.Fprintln(a.Out, "no profiles")
		default:
			console.WriteTable(a.Out, a.Width(), console.Columns("NAME…", "URL…", "TOKEN"), rows)
		}
		return nil
	}}
}

func profileSetCommand(a *console.App) *cobra.Command {
	var from string
	c := &cobra.Command{Use: "set NAME", Short: "Make a profile, or change what the flags say of it", Args: console.Args(1, 1, "a name"),
		Long: `Make a profile, or change what the flags say of it: its address by --url, its token by --token-file. Another address
takes the token away, unless a token comes with it.`,
		Example: "  belfry tokens create --name me --role submit | belfry profiles set prod --url https://belfry.example --token-file -"}
	console.FlagsOf(c).Path(&from, "token-file", "file that holds the token; - for standard input")
	c.RunE = func(c *cobra.Command, args []string) error {
		name := args[0]
		if !console.ProfileName.MatchString(name) {
			return console.Usage("a profile's name must be 1 to 64 of A-Z a-z 0-9 _ . - and begin with a letter or digit")
		}
		known, err := console.ReadProfiles()
		if err != nil {
			return err
		}
		p := known.ByName[name]
		if address := client.BaseAddress(a.Address); c.Flags().Changed("url") && address != client.BaseAddress(p.URL) {
			p = console.Profile{URL: address}
		}
		if p.URL == "" {
			return console.Usage("%s wants --url: there is no such profile yet", c.CommandPath())
		}
		addressFrom, tokenFrom := fmt.Sprintf("the profile %q", name), fmt.Sprintf("the profile %q", name)
		if c.Flags().Changed("url") {
			addressFrom = "--url"
		}
		if c.Flags().Changed("token") {
			p.Token, tokenFrom = a.Token, "--token"
		}
		if from != "" {
			if p.Token, err = readToken(a, from); err != nil {
				return err
			}
			tokenFrom = "--token-file"
		}
		if err := console.EndpointFault(p.URL, addressFrom, p.Token, tokenFrom); err != nil {
			return err
		}
		known.ByName[name] = p
		if err := known.Write(); err != nil {
			return err
		}
		if a.JSON {
			return a.PrintValue(profileDoc{name, p.URL, p.Token != ""})
		}
		fmt.Fprintf(a.Out, "profile %s is kept in %s\n", console.Clean(name), console.Clean(known.Path))
		return nil
	}
	return c
}

// readToken reads a token from a file, its last line's end left out.
func readToken(a *console.App, name string) (string, error) {
	const most = 4096
	in := a.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return "", console.Usage("--token-file: %s: %s", name, console.FileReason(err))
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return "", console.Usage("--token-file: %s", err)
	}
	plain, err := console.PlainText(text)
	if err != nil {
		return "", console.Usage("--token-file %s", err)
	}
	token := strings.TrimSpace(string(plain))
	if token == "" || len(text) == most {
		return "", console.Usage("--token-file must hold a token, and nothing else")
	}
	return token, nil
}

func profileDeleteCommand(a *console.App) *cobra.Command {
	var yes, dry bool
	c := &cobra.Command{Use: "delete NAME", Short: "Forget a profile and its token", Args: console.Args(1, 1, "a name")}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what would be forgotten")
	c.RunE = func(_ *cobra.Command, args []string) error {
		known, err := console.ReadProfiles()
		if err != nil {
			return err
		}
		p, found := known.ByName[args[0]]
		if !found {
			return fmt.Errorf("%w: there is no profile %q", client.ErrNotFound, args[0])
		}
		question := fmt.Sprintf("the profile %s of %s would be forgotten", args[0], p.URL)
		if dry {
			return a.PrintCount("would_delete", 1, question)
		}
		if err := a.Sure(yes, question); err != nil {
			return err
		}
		delete(known.ByName, args[0])
		if err := known.Write(); err != nil {
			return err
		}
		if a.JSON {
			return a.PrintValue(map[string]string{"deleted": args[0]})
		}
		fmt.Fprintf(a.Out, "profile %s is forgotten\n", console.Clean(args[0]))
		return nil
	}
	return c
}
