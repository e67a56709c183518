package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/belfry-dev/belfry/client"
)

// Profile is a server that is called by a name.
type Profile struct {
	URL   string `json:"url"`
	Token string `json:"token,omitempty"`
}

// profiles are those of the user, by name.
type profiles struct {
	Path   string
	ByName map[string]Profile
}

const (
	maxProfiles    = 1 << 20 // bytes of the file
	othersMay      = 0o077   // of its mode: what anyone but its owner may do
	defaultProfile = "default"
)

// ProfileName is the form of a profile's name.
var ProfileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// ReadProfiles reads the file in the user's configuration folder. No file means no profiles. One that others can
// read or write is refused: it holds tokens, and says where they are sent.
func ReadProfiles() (p profiles, err error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return profiles{ByName: map[string]Profile{}}, nil // nowhere to keep any
	}
	p = profiles{Path: filepath.Join(dir, "belfry", "profiles.json"), ByName: map[string]Profile{}}
	file, err := os.Open(p.Path)
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, Usage("profiles: %s", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return p, Usage("profiles: %s", err)
	}
	if info.Mode().Perm()&othersMay != 0 && runtime.GOOS != "windows" {
		return p, Usage("%s holds tokens, and others can read or change it: chmod 600 it, and change the tokens", p.Path)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxProfiles))
	if err != nil {
		return p, Usage("profiles: %s", err)
	}
	if text, err = PlainText(text); err != nil {
		return p, Usage("%s %s", p.Path, err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p.ByName); err != nil || p.ByName == nil || d.More() {
		return p, Usage(`%s is not {"NAME": {"url": "…", "token": "…"}}; belfry profiles set writes it`, p.Path) // the error could quote a token
	}
	return p, nil
}

// Write replaces the file whole.
func (p *profiles) Write() error {
	if p.Path == "" {
		return errors.New("profiles: this user has no folder for configuration: set XDG_CONFIG_HOME or HOME")
	}
	text, err := json.MarshalIndent(p.ByName, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.Path), 0o700); err != nil {
		return fmt.Errorf("profiles: %w", err)
	}
	fresh, err := os.CreateTemp(filepath.Dir(p.Path), "profiles-*.json") // 0600
	if err != nil {
		return fmt.Errorf("profiles: %w", err)
	}
	_, err = fresh.Write(append(text, '\n'))
	if err = errors.Join(err, fresh.Close()); err == nil {
		err = os.Rename(fresh.Name(), p.Path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("profiles: %w", err), os.Remove(fresh.Name()))
	}
	return nil
}

// settle takes from the environment what no flag says, and from the profile what neither says. A profile's token
// goes to the profile's own server only: under another address it stays where it is.
func (a *App) settle() error {
	if a.settled {
		return nil
	}
	for _, from := range []struct {
		name, flag string
		to, source *string
	}{{"BELFRY_URL", "--url", &a.Address, &a.addressFrom}, {"BELFRY_TOKEN", "--token", &a.Token, &a.tokenFrom}, {"BELFRY_PROFILE", "--profile", &a.Profile, new(string)}} {
		text, err := a.Variable(from.name)
		if err != nil {
			return err
		}
		*from.source = from.flag
		if *from.to == "" {
			*from.to, *from.source = text, from.name
		}
	}
	if a.Profile != "" || a.Address == "" || a.Token == "" {
		if err := a.takeProfile(); err != nil {
			return err
		}
	}
	if a.Address == "" {
		a.Address = DefaultAddress
	}
	a.Address = client.BaseAddress(a.Address)
	a.settled = true
	return nil
}

func (a *App) takeProfile() error {
	known, err := ReadProfiles()
	if err != nil {
		return err
	}
	name := a.Profile
	if name == "" {
		name = defaultProfile
	}
	p, found := known.ByName[name]
	if !found {
		if a.Profile != "" {
			return Usage("there is no profile %q; belfry profiles list shows those there are", a.Profile)
		}
		return nil
	}
	if p.URL == "" {
		return Usage("the profile %q has no url: belfry profiles set %s --url … gives it one", name, name)
	}
	if a.Address == "" {
		a.Address, a.addressFrom = p.URL, fmt.Sprintf("the profile %q", name)
	}
	if a.Token == "" && client.BaseAddress(a.Address) == client.BaseAddress(p.URL) {
		a.Token, a.tokenFrom = p.Token, fmt.Sprintf("the profile %q", name)
	}
	return nil
}
